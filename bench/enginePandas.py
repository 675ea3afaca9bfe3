"""Compares two CSV files as a script with pandas does; writes what differs as CSV.

Usage: enginePandas.py LEDGER ENTRIES DIFFERENCES. Loading the library is not counted; prints the time
of the rest and the processor's time in milliseconds, and how many differ.
"""

import json
import sys
import time

import pandas

ledger_file, entries_file, out_file = sys.argv[1:4]
began, used = time.perf_counter(), time.process_time()

ledger = pandas.read_csv(ledger_file, dtype=str).fillna({"expected": ""})
entries = pandas.read_csv(entries_file, dtype=str)
both = ledger.merge(
    entries,
    on=["account_id", "order_no"],
    how="outer",
    suffixes=("_ledger", "_shown"),
    indicator=True,
)
is_other = (
    (both["_merge"] != "both")
    | (both["currency_ledger"] != both["currency_shown"])
    | (both["amount_ledger"] != both["amount_shown"])
    | (both["expected"] != both["state"])
)
found = both[is_other].copy()
kinds = {"left_only": "missing_at_gateway", "right_only": "missing_in_ledger"}
found["kind"] = found["_merge"].astype(str).map(kinds)
rest = found["kind"].isna()
is_currency = found["currency_ledger"] != found["currency_shown"]
is_amount = found["amount_ledger"] != found["amount_shown"]
found.loc[rest, "kind"] = "state"
found.loc[rest & is_amount, "kind"] = "amount"
found.loc[rest & is_currency, "kind"] = "currency"
columns = ["account_id", "order_no", "kind", "expected", "currency_ledger", "amount_ledger"]
columns += ["transaction_id", "state", "currency_shown", "amount_shown", "payment_status"]
found[columns].to_csv(out_file, index=False, header=False)

wall = (time.perf_counter() - began) * 1000
cpu = (time.process_time() - used) * 1000
print(json.dumps({"wall": wall, "cpu": cpu, "found": len(found)}))
