// The few pictures of the console, drawn on the server as SVG: the last runs as a strip, how many
// breaks are open over time and of each age, and money of each age. Each says the same in words for
// whoever cannot see it; colours come from the stylesheet, shapes repeat what the colours say.

import type { ComponentChildren } from 'preact';
import { stateLabel } from '../../core/text/labels.js';
import type { RunMark } from '../../report/consoleRunsStore.js';

const STRIP_CELL = 14;
const STRIP_HEIGHT = 28;

/** One bar a run; the worse the run, the taller. The list of reports links each one, too. */
export function RunStrip({ nights, room }: { nights: readonly RunMark[]; room: number }) {
  const tied = nights.filter(({ state }) => state === 'tied_out').length;
  const width = room * STRIP_CELL;
  return (
    <figure>
      <figcaption>
        {nights.length === 1 ? 'One night' : `The last ${nights.length} nights`}: {tied} tied out
      </figcaption>
      {/* biome-ignore lint/a11y/useSemanticElements: SVG has no fieldset */}
      <svg
        class="strip"
        viewBox={`0 0 ${width} ${STRIP_HEIGHT}`}
        role="group"
        aria-label={words(nights)}
      >
        {nights.map((night, index) => {
          const height = HEIGHTS[night.state];
          return (
            <a href={`/nights/${night.businessDate}`} aria-label={markWords(night)} tabindex={-1}>
              <rect
                class={`mark ${night.state}`}
                x={index * STRIP_CELL + 1}
                y={STRIP_HEIGHT - height}
                width={STRIP_CELL - 2}
                height={height}
                rx={2}
              >
                <title>{markWords(night)}</title>
              </rect>
            </a>
          );
        })}
      </svg>
    </figure>
  );
}

/** What the bars of the strip mean, each beside its word. */
export function StripLegend() {
  return (
    <p class="hint legend">
      {(Object.keys(HEIGHTS) as RunMark['state'][]).map((state) => (
        <span class="key">
          <svg viewBox={`0 0 ${STRIP_CELL} ${STRIP_HEIGHT}`} aria-hidden="true">
            <rect
              class={`mark ${state}`}
              x={1}
              y={STRIP_HEIGHT - HEIGHTS[state]}
              width={STRIP_CELL - 2}
              height={HEIGHTS[state]}
              rx={2}
            />
          </svg>
          {stateLabel(state)}
        </span>
      ))}
      <span>The taller the bar, the worse the night: it is no amount.</span>
    </p>
  );
}

const HEIGHTS: Record<RunMark['state'], number> = {
  tied_out: 10,
  running: 14,
  broken: 18,
  incomplete: 23,
  failed: 28,
};

function markWords({ businessDate, state, open }: RunMark): string {
  const tail = open === null ? '' : `, ${open} open`;
  return `${businessDate}: ${stateLabel(state)}${tail}`;
}

function words(nights: readonly RunMark[]): string {
  return nights.length === 0 ? 'no night yet' : `Nights: ${nights.map(markWords).join('; ')}`;
}

const TREND_WIDTH = 480;
const TREND_HEIGHT = 120;
const EDGE = 6;
const LABEL_ROOM = 40;

export function OpenTrend({ nights }: { nights: readonly RunMark[] }) {
  const counted = nights.filter((night) => night.open !== null);
  const most = Math.max(0, ...counted.map(({ open }) => open ?? 0));
  const step = (TREND_WIDTH - LABEL_ROOM - 2 * EDGE) / Math.max(1, counted.length - 1);
  const points = counted.map(({ open }, index) => {
    const y = TREND_HEIGHT - EDGE - ((open ?? 0) / Math.max(1, most)) * (TREND_HEIGHT - 2 * EDGE);
    return { x: EDGE + index * step, y };
  });
  const last = counted.at(-1);
  const label = last === undefined ? 'no night has ended yet' : trendWords(counted, last, most);
  return (
    <figure>
      <figcaption>How many breaks were open at the end of each night</figcaption>
      <svg
        class="trend"
        viewBox={`0 0 ${TREND_WIDTH} ${TREND_HEIGHT}`}
        role="img"
        aria-label={label}
      >
        <line
          class="axis"
          x1={EDGE}
          y1={TREND_HEIGHT - EDGE}
          x2={TREND_WIDTH}
          y2={TREND_HEIGHT - EDGE}
        />
        <polyline class="line" points={points.map(({ x, y }) => `${x},${y}`).join(' ')} />
        {points.length === 1 ? (
          <circle class="dot" cx={points[0]?.x} cy={points[0]?.y} r={3} />
        ) : null}
        <text class="label" x={TREND_WIDTH} y={EDGE + 4} text-anchor="end">
          {most}
        </text>
      </svg>
      <p class="hint">{label}.</p>
    </figure>
  );
}

function trendWords(counted: readonly RunMark[], last: RunMark, most: number): string {
  const [first] = counted;
  if (first === undefined || counted.length === 1) {
    return `${last.open} open at the end of ${last.businessDate}, the first night`;
  }
  return (
    `${first.open} open at the end of ${first.businessDate}, ` +
    `${last.open} at the end of ${last.businessDate}, ${most} at most`
  );
}

const BAR_ROOM = 200;

export interface Bar {
  name: ComponentChildren;
  /** what the bar is as long as */
  size: number;
  /** the same as it is written */
  shown: ComponentChildren;
}

/** The longest bar is the largest figure, and each stands beside its own. */
export function Bars({ caption, bars }: { caption: ComponentChildren; bars: readonly Bar[] }) {
  const most = Math.max(...bars.map(({ size }) => size));
  return (
    <table class="ages">
      <caption>{caption}</caption>
      <tbody>
        {bars.map(({ name, size, shown }) => (
          <tr>
            <th scope="row">{name}</th>
            <td class="figure">{shown}</td>
            <td>
              <svg
                class="bar"
                viewBox={`0 0 ${BAR_ROOM} 12`}
                preserveAspectRatio="none"
                aria-hidden="true"
              >
                <rect
                  class="fill"
                  x={0}
                  y={1}
                  height={10}
                  width={most <= 0 ? 0 : Math.max(0, (size / most) * BAR_ROOM)}
                />
              </svg>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
