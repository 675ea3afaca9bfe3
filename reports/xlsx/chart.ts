// Bar charts over cells of a sheet, as the parts that the file format has for them; the workbook
// library knows no charts. A chart refers to cells and bears their values too, so that it shows
// before anything is worked out. It must never refer to anything outside its own file. Pure;
// neighbours: workbook.ts puts the parts in, pictures.ts says what is drawn.

import type { Part } from './bookParts.js';

export interface ChartSeries {
  name: string;
  /** Absolute references with the sheet's name. */
  nameRef: string;
  valuesRef: string;
  values: readonly number[];
  /** Six hexadecimal digits. */
  colour: string;
}

export interface BarChart {
  title: string;
  categoriesRef: string;
  categories: readonly string[];
  series: readonly ChartSeries[];
  /**
   * Each bar as a whole of 100 %, made of its series; else one bar a value, with its figure where
   * there is one series alone.
   */
  isShare: boolean;
  /** From where to where it reaches, counted from 0, both included. */
  place: { fromColumn: number; toColumn: number; fromRow: number; toRow: number };
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument';
/** How far into its first and its last column a chart begins and ends; 12,700 are a point. */
const FROM_EDGE = 60_000;
const TO_EDGE = 700_000;
/** How a sheet's own XML names its drawing. */
export const DRAWING_ELEMENT = '<drawing r:id="rId1"/>';

export interface DrawingParts {
  parts: Part[];
  /** What the list of contents of the file has to say of them. */
  contentTypes: string;
}

/** The parts that draw these charts on one sheet. */
export function drawingParts(sheetNumber: number, charts: readonly BarChart[]): DrawingParts {
  const drawing = `xl/drawings/drawing${sheetNumber}.xml`;
  const chartName = (index: number): string => `chart${sheetNumber}_${index + 1}.xml`;
  const relations = charts.map((_, at) => relation(at + 1, 'chart', `../charts/${chartName(at)}`));
  const parts: Part[] = [
    {
      name: `xl/worksheets/_rels/sheet${sheetNumber}.xml.rels`,
      text: relationships([relation(1, 'drawing', `../drawings/drawing${sheetNumber}.xml`)]),
    },
    { name: drawing, text: drawingXml(charts) },
    {
      name: `xl/drawings/_rels/drawing${sheetNumber}.xml.rels`,
      text: relationships(relations),
    },
    ...charts.map((chart, at) => ({ name: `xl/charts/${chartName(at)}`, text: chartXml(chart) })),
  ];
  const types = [
    override(drawing, 'drawing'),
    ...charts.map((_, at) => override(`xl/charts/${chartName(at)}`, 'drawingml.chart')),
  ];
  return { parts, contentTypes: types.join('') };
}

function override(part: string, type: string): string {
  return `<Override PartName="/${part}" ContentType="${TYPE}.${type}+xml"/>`;
}

function relation(id: number, type: string, target: string): string {
  return `<Relationship Id="rId${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
}

function relationships(all: readonly string[]): string {
  return `${XML}<Relationships xmlns="${PACKAGE}">${all.join('')}</Relationships>`;
}

function drawingXml(charts: readonly BarChart[]): string {
  const anchors = charts.map(({ place, title }, at) => {
    const corner = (name: string, column: number, row: number, offset: number): string =>
      `<xdr:${name}><xdr:col>${column}</xdr:col><xdr:colOff>${offset}</xdr:colOff>` +
      `<xdr:row>${row}</xdr:row><xdr:rowOff>30000</xdr:rowOff></xdr:${name}>`;
    const frame = `<xdr:cNvPr id="${at + 2}" name="${escaped(title)}" descr="${escaped(title)}"/>`;
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
  const { isShare, series } = chart;
  const bars =
    `<c:barDir val="${isShare ? 'bar' : 'col'}"/>` +
    `<c:grouping val="${isShare ? 'percentStacked' : 'clustered'}"/><c:varyColors val="0"/>` +
    series.map((one, at) => seriesXml(chart, one, at)).join('') +
    `<c:gapWidth val="60"/>${isShare ? '<c:overlap val="100"/>' : ''}` +
    '<c:axId val="1001"/><c:axId val="1002"/>';
  const legend =
    isShare || series.length > 1
      ? `<c:legend><c:legendPos val="b"/><c:overlay val="0"/>${fontXml(900)}</c:legend>`
      : '';
  return (
    `${XML}<c:chartSpace xmlns:c="${DRAWING}/chart" xmlns:a="${DRAWING}/main" ` +
    `xmlns:r="${OFFICE}">` +
    `<c:roundedCorners val="0"/><c:chart>${titleXml(chart.title)}<c:autoTitleDeleted val="0"/>` +
    `<c:plotArea><c:layout/><c:barChart>${bars}</c:barChart>${axesXml(isShare)}</c:plotArea>` +
    `${legend}<c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart>` +
    `<c:spPr><a:ln w="9525"><a:solidFill><a:srgbClr val="C5D0D8"/></a:solidFill></a:ln></c:spPr>` +
    '</c:chartSpace>'
  );
}

function seriesXml(chart: BarChart, one: ChartSeries, at: number): string {
  const fill = `<a:solidFill><a:srgbClr val="${one.colour}"/></a:solidFill>`;
  // A dark edge keeps neighbours apart where a printer knows no colours.
  const edge = '<a:ln w="6350"><a:solidFill><a:srgbClr val="1F3A4D"/></a:solidFill></a:ln>';
  const points = one.values.map((value, index) => point(index, String(value))).join('');
  const labels =
    chart.isShare || chart.series.length > 1
      ? ''
      : '<c:dLbls><c:spPr><a:noFill/></c:spPr><c:showLegendKey val="0"/><c:showVal val="1"/>' +
        '<c:showCatName val="0"/><c:showSerName val="0"/><c:showPercent val="0"/>' +
        '<c:showBubbleSize val="0"/></c:dLbls>';
  return (
    `<c:ser><c:idx val="${at}"/><c:order val="${at}"/>` +
    `<c:tx>${textRef(one.nameRef, [one.name])}</c:tx>` +
    `<c:spPr>${fill}${edge}</c:spPr><c:invertIfNegative val="0"/>${labels}` +
    `<c:cat>${textRef(chart.categoriesRef, chart.categories)}</c:cat>` +
    `<c:val><c:numRef><c:f>${escaped(one.valuesRef)}</c:f><c:numCache>` +
    `<c:formatCode>#,##0</c:formatCode><c:ptCount val="${one.values.length}"/>${points}` +
    '</c:numCache></c:numRef></c:val></c:ser>'
  );
}

function textRef(ref: string, texts: readonly string[]): string {
  const points = texts.map((text, index) => point(index, text)).join('');
  return (
    `<c:strRef><c:f>${escaped(ref)}</c:f><c:strCache><c:ptCount val="${texts.length}"/>` +
    `${points}</c:strCache></c:strRef>`
  );
}

function point(index: number, value: string): string {
  return `<c:pt idx="${index}"><c:v>${escaped(value)}</c:v></c:pt>`;
}

function titleXml(title: string): string {
  return (
    '<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:pPr><a:defRPr sz="1200" b="1"/></a:pPr>' +
    `<a:r><a:rPr lang="en-GB" sz="1200" b="1"/><a:t>${escaped(title)}</a:t></a:r></a:p>` +
    '</c:rich></c:tx><c:overlay val="0"/></c:title>'
  );
}

function axesXml(isShare: boolean): string {
  // Bars that lie read from the top down, as the table does.
  const order = isShare ? 'maxMin' : 'minMax';
  const line = '<a:ln w="9525"><a:solidFill><a:srgbClr val="8A99A5"/></a:solidFill></a:ln>';
  const common =
    '<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>';
  return (
    `<c:catAx><c:axId val="1001"/><c:scaling><c:orientation val="${order}"/></c:scaling>` +
    `<c:delete val="0"/><c:axPos val="${isShare ? 'l' : 'b'}"/>` +
    `<c:numFmt formatCode="General" sourceLinked="0"/>${common}<c:spPr>${line}</c:spPr>` +
    `${fontXml(900)}<c:crossAx val="1002"/><c:crosses val="autoZero"/></c:catAx>` +
    '<c:valAx><c:axId val="1002"/><c:scaling><c:orientation val="minMax"/><c:min val="0"/>' +
    `</c:scaling><c:delete val="0"/><c:axPos val="${isShare ? 't' : 'l'}"/>` +
    '<c:majorGridlines><c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="DCE6EC"/>' +
    '</a:solidFill></a:ln></c:spPr></c:majorGridlines>' +
    `<c:numFmt formatCode="${isShare ? '0%' : '#,##0'}" sourceLinked="0"/>${common}` +
    `<c:spPr>${line}</c:spPr>${fontXml(900)}<c:crossAx val="1001"/>` +
    `<c:crosses val="${isShare ? 'max' : 'autoZero'}"/></c:valAx>`
  );
}

function fontXml(size: number): string {
  return (
    `<c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="${size}"/></a:pPr>` +
    '<a:endParaRPr lang="en-GB"/></a:p></c:txPr>'
  );
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
