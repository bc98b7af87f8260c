#!/bin/sh
# Compares the loading of the checked-out commit with a base: exit code 2 if it is slower. The base is the first
# argument, or origin/main. The file .loaderscope/ci.conf has the settings.
set -eu
rm -f compare.json compare.md compare.xml  # results of an earlier run, if the folder is kept
code=0
loaderscope compare --scenario .loaderscope/ci.conf --ref-a "${1-origin/main}" --json compare.json || code=$?
if [ -s compare.json ]; then
  loaderscope report compare.json --format markdown --output compare.md
  loaderscope report compare.json --format junit --output compare.xml
fi
exit "$code"
