#!/bin/sh
# Two calls of one program by hand: the header names it. Then what maitred knows of it, and its end.
set -eu
url=${MAITRED_URL:-http://127.0.0.1:8080}
model=${MODEL:-llama-3.1-8b}
program=${PROGRAM:-curl-$$}

ask() {
  curl --silent --show-error --fail-with-body --include --no-buffer "$url/v1/chat/completions" \
    -H 'content-type: application/json' -H "authorization: Bearer ${API_KEY:-none}" -H "x-maitred-program: $program" \
    -d "{\"model\": \"$model\", \"max_tokens\": 20, \"stream\": $1, \"messages\": [{\"role\": \"user\", \"content\": \"$2\"}]}"
  echo
}

ask false 'Hello'
ask true 'Hello again, as a stream'
curl --silent --show-error --fail-with-body "$url/programs/$program"
echo
curl --silent --show-error --fail-with-body -X POST "$url/programs/$program/end"
echo
