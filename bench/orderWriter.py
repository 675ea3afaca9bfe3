# The same rows by python3-xlsxwriter in its mode of constant memory. Run by reports.mjs where that
# package is there; prints how long it took.
import datetime
import json
import resource
import sys
import time

import xlsxwriter

COUNT, PATH = int(sys.argv[1]), sys.argv[2]
CURRENCIES = ["EUR", "USD", "GBP", "CHF"]
STATES = ["captured", "authorised", "refunded", "cancelled"]
CODES = ["3000", "2000", "6500", "4000"]
FIRST = datetime.datetime(2026, 10, 1)

begun = time.perf_counter()
book = xlsxwriter.Workbook(PATH, {"constant_memory": True})
sheet = book.add_worksheet("Orders")
money = book.add_format({"num_format": "#,##0.00"})
date = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
for i in range(COUNT):
    cents = i * 7919 % 10000000 + 1
    broken = i % 200 == 0
    shown = cents + i % 37 + 1 if broken else cents
    placed = FIRST + datetime.timedelta(milliseconds=i * 2600)
    texts = [
        f"A100{1 + i % 5}",
        f"SO-20261001-{i:08d}",
        "broken" if broken else "matched",
        "amount_mismatch" if broken else "",
        STATES[i & 3],
        STATES[i & 3],
        CODES[i & 3],
        CURRENCIES[i >> 2 & 3],
    ]
    for column, text in enumerate(texts):
        sheet.write_string(i, column, text)
    sheet.write_number(i, 8, cents / 100, money)
    sheet.write_number(i, 9, shown / 100, money)
    sheet.write_string(i, 10, f"2026100100{i * 104729 % 10**10:016d}")
    sheet.write_string(i, 11, placed.strftime("%Y%m%d%H%M%S"))
    sheet.write_datetime(i, 12, placed, date)
book.close()
ms = (time.perf_counter() - begun) * 1000
usage = resource.getrusage(resource.RUSAGE_SELF)
cpu = (usage.ru_utime + usage.ru_stime) * 1000
print(json.dumps({"ms": ms, "cpuMs": cpu, "peakMb": usage.ru_maxrss / 1024}))
