#!/bin/sh
# Compiles before.zone and after.zone into the zips beside them.
set -eu
cd "$(dirname "$0")"
for name in before after; do
  made=$(mktemp -d)
  zic -b fat -d "$made" "$name.zone"
  rm -f "$name.zip"
  # Store only, fixed dates and order: the same source gives the same file.
  find "$made" -type f -exec touch -t 200001010000 {} +
  (cd "$made" && find . -type f | sed 's|^\./||' | LC_ALL=C sort | zip -q -X -0 -@ "$OLDPWD/$name.zip")
  rm -r "$made"
done
