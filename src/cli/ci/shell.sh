#!/bin/sh
# Whether what is checked out slows loading: exit code 2 where it does. The base is the first argument, or origin/main.
# What is compared stands in .loaderscope/ci.conf.
set -eu
rm -f compare.json compare.md compare.xml  # of an earlier run, where the folder is kept
code=0
loaderscope compare --scenario .loaderscope/ci.conf --ref-a "${1-origin/main}" --json compare.json || code=$?
if [ -s compare.json ]; then
  loaderscope report compare.json --format markdown --output compare.md
  loaderscope report compare.json --format junit --output compare.xml
fi
exit "$code"
