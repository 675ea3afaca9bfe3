// Bar charts over cells of a sheet, as the parts that the file format has for them. A chart refers
// to cells and bears their values too, so that it shows before anything is worked out. It must
// never refer to anything outside its own file. Pure; neighbours: workbook.ts puts the parts in,
// pictures.ts says what is drawn.

import type { Part } from './xml.js';
import { OFFICE, OFFICE_TYPE, quoted, relationsPart, XML } from './xml.js';

export interface ChartSeries {
  name: string;
  /** Absolute references with the sheet's name. */
  nameRef: string;
  valuesRef: string;
  values: readonly number[];
  /** Six hexadecimal digits. */
  colour: string;
}

/** One bar a value, with its figure where there is one series alone. */
export interface BarChart {
  title: string;
  categoriesRef: string;
  categories: readonly string[];
  series: readonly ChartSeries[];
  /** From where to where it reaches, counted from 0, both included. */
  place: { fromColumn: number; toColumn: number; fromRow: number; toRow: number };
}

const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';
/** How far into its first and its last column a chart begins and ends; 12,700 are a point. */
const FROM_EDGE = 60_000;
const TO_EDGE = 700_000;
/** The parts that draw these charts on one sheet. */
export function drawingParts(sheetNumber: number, charts: readonly BarChart[]): Part[] {
  if (charts.length === 0) return [];
  const drawing = `drawing${sheetNumber}.xml`;
  const names = charts.map((_, at) => `chart${sheetNumber}_${at + 1}.xml`);
  return [
    relationsPart(`xl/worksheets/_rels/sheet${sheetNumber}.xml.rels`, [
      { type: 'drawing', target: `../drawings/${drawing}` },
    ]),
    {
      name: `xl/drawings/${drawing}`,
      type: `${OFFICE_TYPE}.drawing+xml`,
      text: drawingXml(charts),
    },
    relationsPart(
      `xl/drawings/_rels/${drawing}.rels`,
      names.map((name) => ({ type: 'chart', target: `../charts/${name}` })),
    ),
    ...charts.map((chart, at) => ({
      name: `xl/charts/${names[at]}`,
      type: `${OFFICE_TYPE}.drawingml.chart+xml`,
      text: chartXml(chart),
    })),
  ];
}

function drawingXml(charts: readonly BarChart[]): string {
  const anchors = charts.map(({ place, title }, at) => {
    const corner = (name: string, column: number, row: number, offset: number): string =>
      `<xdr:${name}><xdr:col>${column}</xdr:col><xdr:colOff>${offset}</xdr:colOff>` +
      `<xdr:row>${row}</xdr:row><xdr:rowOff>30000</xdr:rowOff></xdr:${name}>`;
    const frame = `<xdr:cNvPr id="${at + 2}" name="${quoted(title)}" descr="${quoted(title)}"/>`;
    return (
      '<xdr:twoCellAnchor editAs="oneCell">' +
      corner('from', place.fromColumn, place.fromRow, FROM_EDGE) +
      corner('to', place.toColumn, place.toRow, TO_EDGE) +
      '<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr>' +
      `${frame}<xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr>` +
      '<xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm>' +
      `<a:graphic><a:graphicData uri="${DRAWING}/chart">` +
      `<c:chart xmlns:c="${DRAWING}/chart" r:id="rId${at + 1}"/>` +
      '</a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor>'
    );
  });
  const spaces = `xmlns:xdr="${DRAWING}/spreadsheetDrawing" xmlns:a="${DRAWING}/main"`;
  return `${XML}<xdr:wsDr ${spaces} xmlns:r="${OFFICE}">${anchors.join('')}</xdr:wsDr>`;
}

function chartXml(chart: BarChart): string {
  const { series } = chart;
  const bars =
    '<c:barDir val="col"/><c:grouping val="clustered"/><c:varyColors val="0"/>' +
    series.map((one, at) => seriesXml(chart, one, at)).join('') +
    '<c:gapWidth val="60"/><c:axId val="1001"/><c:axId val="1002"/>';
  const legend =
    series.length > 1
      ? `<c:legend><c:legendPos val="b"/><c:overlay val="0"/>${fontXml(900)}</c:legend>`
      : '';
  return (
    `${XML}<c:chartSpace xmlns:c="${DRAWING}/chart" xmlns:a="${DRAWING}/main" ` +
    `xmlns:r="${OFFICE}">` +
    `<c:roundedCorners val="0"/><c:chart>${titleXml(chart.title)}<c:autoTitleDeleted val="0"/>` +
    `<c:plotArea><c:layout/><c:barChart>${bars}</c:barChart>${axesXml()}</c:plotArea>` +
    `${legend}<c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart>` +
    `<c:spPr><a:ln w="9525"><a:solidFill><a:srgbClr val="C5D0D8"/></a:solidFill></a:ln></c:spPr>` +
    `${fontXml(1000)}</c:chartSpace>`
  );
}

function seriesXml(chart: BarChart, one: ChartSeries, at: number): string {
  const fill = `<a:solidFill><a:srgbClr val="${one.colour}"/></a:solidFill>`;
  // A dark edge keeps neighbours apart where a printer knows no colours.
  const edge = '<a:ln w="6350"><a:solidFill><a:srgbClr val="1F3A4D"/></a:solidFill></a:ln>';
  const points = one.values.map((value, index) => point(index, String(value))).join('');
  const labels =
    chart.series.length > 1
      ? ''
      : '<c:dLbls><c:spPr><a:noFill/></c:spPr><c:showLegendKey val="0"/><c:showVal val="1"/>' +
        '<c:showCatName val="0"/><c:showSerName val="0"/><c:showPercent val="0"/>' +
        '<c:showBubbleSize val="0"/></c:dLbls>';
  return (
    `<c:ser><c:idx val="${at}"/><c:order val="${at}"/>` +
    `<c:tx>${textRef(one.nameRef, [one.name])}</c:tx>` +
    `<c:spPr>${fill}${edge}</c:spPr><c:invertIfNegative val="0"/>${labels}` +
    `<c:cat>${textRef(chart.categoriesRef, chart.categories)}</c:cat>` +
    `<c:val><c:numRef><c:f>${quoted(one.valuesRef)}</c:f><c:numCache>` +
    `<c:formatCode>#,##0</c:formatCode><c:ptCount val="${one.values.length}"/>${points}` +
    '</c:numCache></c:numRef></c:val></c:ser>'
  );
}

function textRef(ref: string, texts: readonly string[]): string {
  const points = texts.map((text, index) => point(index, text)).join('');
  return (
    `<c:strRef><c:f>${quoted(ref)}</c:f><c:strCache><c:ptCount val="${texts.length}"/>` +
    `${points}</c:strCache></c:strRef>`
  );
}

function point(index: number, value: string): string {
  return `<c:pt idx="${index}"><c:v>${quoted(value)}</c:v></c:pt>`;
}

function titleXml(title: string): string {
  return (
    '<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:pPr><a:defRPr sz="1200" b="1"/></a:pPr>' +
    `<a:r><a:rPr lang="en-GB" sz="1200" b="1">${FONT}</a:rPr><a:t>${quoted(title)}</a:t></a:r>` +
    '</a:p></c:rich></c:tx><c:overlay val="0"/></c:title>'
  );
}

function axesXml(): string {
  const line = '<a:ln w="9525"><a:solidFill><a:srgbClr val="8A99A5"/></a:solidFill></a:ln>';
  const common =
    '<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>';
  return (
    '<c:catAx><c:axId val="1001"/><c:scaling><c:orientation val="minMax"/></c:scaling>' +
    '<c:delete val="0"/><c:axPos val="b"/>' +
    `<c:numFmt formatCode="General" sourceLinked="0"/>${common}<c:spPr>${line}</c:spPr>` +
    `${fontXml(900)}<c:crossAx val="1002"/><c:crosses val="autoZero"/></c:catAx>` +
    '<c:valAx><c:axId val="1002"/><c:scaling><c:orientation val="minMax"/><c:min val="0"/>' +
    '</c:scaling><c:delete val="0"/><c:axPos val="l"/>' +
    '<c:majorGridlines><c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="DCE6EC"/>' +
    '</a:solidFill></a:ln></c:spPr></c:majorGridlines>' +
    `<c:numFmt formatCode="#,##0" sourceLinked="0"/>${common}` +
    `<c:spPr>${line}</c:spPr>${fontXml(900)}<c:crossAx val="1001"/>` +
    '<c:crosses val="autoZero"/></c:valAx>'
  );
}

/** The file has no theme that could name it. */
const FONT = '<a:latin typeface="Calibri"/>';

function fontXml(size: number): string {
  return (
    `<c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="${size}">${FONT}</a:defRPr></a:pPr>` +
    '<a:endParaRPr lang="en-GB"/></a:p></c:txPr>'
  );
}
