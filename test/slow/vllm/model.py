#!/usr/bin/env python3
"""model.py FOLDER: a Llama of 36 million random weights that says nothing sensible, with a tokenizer of its own."""

import sys
import sysconfig
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VOCABULARY = 4096
CONTEXT = 32768
PAD, START, END = "<|pad|>", "<|start|>", "<|end|>"
TEMPLATE = (
    "{%- for message in messages -%}"
    "<|start|>{{ message.role }}\n{{ message.content or '' }}"
    "{%- if not (loop.last and continue_final_message) -%}<|end|>\n{% endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|start|>assistant\n{% endif -%}"
)


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Byte pairs, learnt from the standard library's source."""
    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[PAD, START, END], initial_alphabet=alphabet, show_progress=False
    )
    sources = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    pairs.train([str(source) for source in sources], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pairs, eos_token=END, pad_token=PAD, model_max_length=CONTEXT
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=512,
        intermediate_size=2048,
        num_hidden_layers=8,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=CONTEXT,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    made = make_tokenizer()
    made.save_pretrained(sys.argv[1])
    make_model(made).save_pretrained(sys.argv[1])
