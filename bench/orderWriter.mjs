// Writes so many orders into a workbook, by the program's own writer, by a bare one that knows
// nothing but these rows, or by the workbook library alone. Run by reports.mjs as a process of its
// own; prints how long it took.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { HEADINGS, orderRows } from './orderRows.mjs';

const [name, count, path] = [process.argv[2], Number(process.argv[3]), process.argv[4]];
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const SPREADSHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const PIECE_CHARS = 1 << 16;

const WRITERS = { tieout, bare, library };

const write = await WRITERS[name]();
const from = performance.now();
const before = process.cpuUsage();
await write();
const { user, system } = process.cpuUsage(before);
const ms = performance.now() - from;
process.stdout.write(`${JSON.stringify({ name, count, ms, cpuMs: (user + system) / 1000 })}\n`);

async function tieout() {
  const { writeOrders } = await import('../dist/reports/orders.js');
  const at = new Date('2026-11-20T03:16:02Z');
  const about = {
    ...{ environment: 'test', businessDate: '2026-11-19', timezone: 'Europe/Berlin' },
    ...{
      cutOff: '00:00',
      asOf: at,
      createdAt: at,
      revision: 1,
      previousRun: null,
      previousWorkbook: null,
      chainHead: '',
    },
    ...{ versions: [], profileHash: '', inputsHash: '', digests: {}, parameters: [] },
  };
  return () => writeOrders(path, about, orderRows(count));
}

/** One sheet, three styles, no check of any value, no total: the least that opens. */
async function bare() {
  return async () => {
    const file = createWriteStream(path);
    const entries = [];
    let offset = 0;
    const put = async (bytes) => {
      offset += bytes.length;
      if (!file.write(bytes)) await once(file, 'drain');
    };
    const entry = async (part, pieces) => {
      const start = offset;
      const head = Buffer.alloc(30);
      head.writeUInt32LE(0x04034b50, 0);
      for (const [value, at] of [
        [20, 4],
        [8, 6],
        [8, 8],
        [part.length, 26],
      ]) {
        head.writeUInt16LE(value, at);
      }
      await put(Buffer.concat([head, Buffer.from(part)]));
      const deflate = createDeflateRaw({ level: 1, memLevel: 9, chunkSize: 1 << 16 });
      let [crc, size, packed] = [0, 0, 0];
      const handOn = (async () => {
        for await (const bytes of deflate) {
          packed += bytes.length;
          await put(bytes);
        }
      })();
      for await (const piece of pieces) {
        const bytes = Buffer.from(piece);
        crc = crc32(bytes, crc);
        size += bytes.length;
        if (!deflate.write(bytes)) await once(deflate, 'drain');
      }
      deflate.end();
      await handOn;
      const tail = Buffer.alloc(16);
      tail.writeUInt32LE(0x08074b50, 0);
      for (const [value, at] of [
        [crc, 4],
        [packed, 8],
        [size, 12],
      ])
        tail.writeUInt32LE(value, at);
      await put(tail);
      entries.push({ part, start, crc, size, packed });
    };
    for (const [part, xml] of Object.entries(bareParts())) await entry(part, [xml]);
    await entry('xl/worksheets/sheet1.xml', bareSheet());
    await put(directory(entries, offset));
    file.end();
    await finished(file);
  };
}

async function* bareSheet() {
  const text = (at, value) => `<c r="${at}" t="str"><v>${escaped(value)}</v></c>`;
  const letters = 'ABCDEFGHIJKLM';
  const head = HEADINGS.map((heading, at) => text(`${letters[at]}1`, heading)).join('');
  let xml = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><worksheet xmlns="${MAIN}">`;
  xml += `<sheetData><row r="1">${head}</row>`;
  let number = 1;
  for await (const rows of orderRows(count)) {
    for (const row of rows) {
      number += 1;
      const n = number;
      const placed = row.placedAt.getTime() / 86_400_000 + 25_569;
      xml += `<row r="${n}">${text(`A${n}`, row.accountId)}${text(`B${n}`, row.orderNo)}`;
      xml += `${text(`C${n}`, row.class)}${text(`D${n}`, row.kinds)}${text(`E${n}`, row.expected)}`;
      xml += `${text(`F${n}`, row.gatewayState)}${text(`G${n}`, row.paymentStatus)}`;
      xml += `${text(`H${n}`, row.currency)}<c r="I${n}" s="2"><v>${row.ledgerAmount}</v></c>`;
      xml += `<c r="J${n}" s="2"><v>${row.gatewayAmount}</v></c>${text(`K${n}`, row.transactionId)}`;
      xml += `${text(`L${n}`, row.transactionDate)}<c r="M${n}" s="1"><v>${placed}</v></c></row>`;
      if (xml.length > PIECE_CHARS) {
        yield xml;
        xml = '';
      }
    }
  }
  yield `${xml}</sheetData></worksheet>`;
}

function escaped(text) {
  if (!/[&<>]/.test(text)) return text;
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function bareParts() {
  const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
  const override = (part, type) =>
    `<Override PartName="/xl/${part}.xml" ContentType="${SPREADSHEET}.${type}+xml"/>`;
  const relation = (id, type, target) =>
    `<Relationship Id="rId${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
  return {
    '[Content_Types].xml':
      `${xml}<Types xmlns="${PACKAGE}/content-types">` +
      '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.' +
      'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>' +
      `${override('workbook', 'sheet.main')}${override('worksheets/sheet1', 'worksheet')}` +
      `${override('styles', 'styles')}</Types>`,
    '_rels/.rels':
      `${xml}<Relationships xmlns="${PACKAGE}/relationships">` +
      `${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/_rels/workbook.xml.rels':
      `${xml}<Relationships xmlns="${PACKAGE}/relationships">` +
      `${relation(1, 'worksheet', 'worksheets/sheet1.xml')}` +
      `${relation(2, 'styles', 'styles.xml')}</Relationships>`,
    'xl/workbook.xml':
      `${xml}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">` +
      '<sheets><sheet name="Orders" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/styles.xml':
      `${xml}<styleSheet xmlns="${MAIN}"><numFmts count="1">` +
      '<numFmt numFmtId="164" formatCode="yyyy-mm-dd hh:mm"/></numFmts>' +
      '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>' +
      '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
      '<fill><patternFill patternType="gray125"/></fill></fills>' +
      '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>' +
      '<cellXfs count="3"><xf/><xf numFmtId="164" applyNumberFormat="1"/>' +
      '<xf numFmtId="4" applyNumberFormat="1"/></cellXfs></styleSheet>',
  };
}

function directory(entries, start) {
  const records = entries.map(({ part, start: at, crc, size, packed }) => {
    const record = Buffer.alloc(46);
    record.writeUInt32LE(0x02014b50, 0);
    for (const [value, to] of [
      [20, 4],
      [20, 6],
      [8, 8],
      [8, 10],
      [part.length, 28],
    ]) {
      record.writeUInt16LE(value, to);
    }
    for (const [value, to] of [
      [crc, 16],
      [packed, 20],
      [size, 24],
      [at, 42],
    ]) {
      record.writeUInt32LE(value, to);
    }
    return Buffer.concat([record, Buffer.from(part)]);
  });
  const all = Buffer.concat(records);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(all.length, 12);
  end.writeUInt32LE(start, 16);
  return Buffer.concat([all, end]);
}

/** The library as its own guide shows it, with the waiting that it lacks. */
async function library() {
  const { default: Excel } = await import('exceljs');
  return async () => {
    const zip = { zlib: { level: 1 } };
    const book = new Excel.stream.xlsx.WorkbookWriter({ filename: path, useStyles: true, zip });
    const sheet = book.addWorksheet('Orders');
    const [text, money, date] = ['@', '#,##0.00', 'yyyy-mm-dd hh:mm'].map((numFmt) => ({ numFmt }));
    sheet.addRow(HEADINGS).commit();
    for await (const rows of orderRows(count)) {
      for (const one of rows) {
        const values = Object.values(one);
        values[8] = Number(one.ledgerAmount);
        values[9] = Number(one.gatewayAmount);
        const row = sheet.addRow(values);
        for (let at = 0; at < values.length; at += 1) {
          row.getCell(at + 1).style = at === 8 || at === 9 ? money : at === 12 ? date : text;
        }
        row.commit();
      }
      const pipe = sheet.stream.pipes[0];
      while (pipe._writableState.length > PIECE_CHARS * 4) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    sheet.commit();
    await book.commit();
  };
}
