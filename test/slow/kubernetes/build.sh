#!/bin/sh
# Builds kube-apiserver from its Go modules into a folder: sh build.sh FOLDER. Needs Go. Takes some twelve CPU minutes.
# Then: TEST_KUBE_APISERVER=FOLDER/kube-apiserver npm run test:kubernetes (with etcd in the PATH).
set -e
cd "$1"
cat > main.go <<'END'
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
END
modules=$(go mod download -json k8s.io/kubernetes@v1.35.0 | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
{
  printf 'module local/apiserver\ngo 1.25.0\ngodebug default=go1.25\nrequire k8s.io/kubernetes v1.35.0\nreplace (\n'
  sed -n 's/^\tk8s.io\/\([a-z-]*\) v0.0.0$/\tk8s.io\/\1 => k8s.io\/\1 v0.35.0/p' "$modules" | sort -u
  echo ')'
} > go.mod
go mod tidy
go build -o kube-apiserver .
