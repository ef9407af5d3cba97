#!/bin/sh
# Two calls of one program by hand: the header names it. Then what maitred knows of it, and its end.
set -eu
url=${GATEWAY_URL:-http://127.0.0.1:8080}
model=${MODEL:-llama-3.1-8b}
program=${PROGRAM:-curl-$$}

# Sends with a key; its further arguments are curl's.
send() {
  key=$1
  shift
  curl --silent --show-error --fail-with-body -H "authorization: Bearer $key" "$@"
  echo
}

ask() {
  send "${API_KEY:-none}" --include --no-buffer "$url/v1/chat/completions" \
    -H 'content-type: application/json' -H "x-maitred-program: $program" \
    -d "{\"model\": \"$model\", \"max_tokens\": 20, \"stream\": $1, \"messages\": [{\"role\": \"user\", \"content\": \"$2\"}]}"
}

ask false 'Hello'
ask true 'Hello again, as a stream'
# A gateway with API keys shows its programs to operators only. Clients may end their own.
if [ -n "${ADMIN_TOKEN:-}" ] || [ -z "${API_KEY:-}" ]; then
  send "${ADMIN_TOKEN:-none}" "$url/programs/$program"
else
  echo "set ADMIN_TOKEN to see what maitred knows of $program" >&2
fi
send "${ADMIN_TOKEN:-${API_KEY:-none}}" -X POST "$url/programs/$program/end"
