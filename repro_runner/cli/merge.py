"""`graphbreak merge`: join shards of one environment into the file that one run would have written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from registry.datafile import read_data_file
from registry.errors import InvalidInput
from registry.evidence_file import dump_document, merge_documents, parse_document


def main(argv: Sequence[str]) -> int:
    """Write the merged file; 2 if a shard can't be read or does not fit the others."""
    parser = argparse.ArgumentParser(prog="graphbreak merge", description="Join evidence files of shards into one.")
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args(argv)
    try:
        merged = merge_documents(
            (str(path), parse_document(read_data_file(path), str(path))) for path in arguments.shards
        )
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return 2
    arguments.out.write_text(dump_document(merged), "utf-8")
    print(f"{len(merged['records'])} ids from {len(arguments.shards)} files; {arguments.out.name}")
    return 0
