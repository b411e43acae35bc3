#!/usr/bin/env bash
# What `make demo` runs: judges the sample crawls into a fresh demo-out/, then explains one duplicate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
sample=examples/sample
out=demo-out

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }

rm -rf "$out"
mkdir "$out"

say "seenbefore dedup $sample/*.ndjson* --rules $sample/rules.toml --store $out/seen.db --out $out/out"
status=0
seenbefore dedup "$sample"/*.ndjson* --rules "$sample/rules.toml" --store "$out/seen.db" --out "$out/out" || status=$?
# Exit status 1 says that lines were refused, and the sample has some on purpose. Anything else is a failure.
if [ "$status" -ne 1 ]; then
    echo "the demo expected exit status 1 (some lines refused), not $status" >&2
    exit 1
fi

# The first duplicate that is equal after normalisation only: its explanation has something to show.
row=$(sed -n '/"verdict":"duplicate".*"matched_on":"content"/{s/^{"run":\([0-9]*\),"seq":\([0-9]*\),.*/\1:\2/p;q}' "$out/out/receipts.ndjson")
say "seenbefore explain --store $out/seen.db $row"
seenbefore explain --store "$out/seen.db" "$row"

cat <<END

$out/out/kept.ndjson      the records that are new, changed, syndicated or without identity, each with its verdict in "_seen"
$out/out/receipts.ndjson  one receipt for every line, kept or not
$out/out/refused.ndjson   the lines that were set aside, byte for byte, each with its reason
$out/out/summary.json     the counts
$out/seen.db              the store: run it again on tomorrow's crawl
$sample/README.md  which line shows what
END
