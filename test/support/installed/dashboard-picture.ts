/** One panel of the dashboard, with what Prometheus answered over the time that is shown. */
export interface DrawnPanel {
  readonly title: string;
  readonly type: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}

export interface Line {
  readonly name: string;
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

const [COLUMNS, WIDTH, HEIGHT, GAP] = [4, 290, 150, 12];
const COLOURS = ['#0b8f7a', '#c2571a', '#3b6fd4', '#a03fb0', '#b08a00', '#5c7d1e', '#c23a5b', '#4a8fb5'];
const SHOWN_LINES = 4;
const [NAME_LENGTH, TITLE_LENGTH] = [24, 38];

/** A page of panels as one SVG, in light or dark as whoever looks at it prefers. */
export function drawDashboard(panels: readonly DrawnPanel[], [from, to]: readonly [number, number]): string {
  const rows = Math.ceil(panels.length / COLUMNS);
  const [width, height] = [COLUMNS * (WIDTH + GAP) + GAP, rows * (HEIGHT + GAP) + GAP];
  const drawn = panels.map((panel, nth) => {
    const [x, y] = [GAP + (nth % COLUMNS) * (WIDTH + GAP), GAP + Math.floor(nth / COLUMNS) * (HEIGHT + GAP)];
    return `<g transform="translate(${x} ${y})">${panelOf(panel, from, to)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">The panels of the dashboard, as Prometheus answered their queries</title>
<style>
text { font: 10px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #5a6562 }
.title { font-weight: 600; font-size: 12px; fill: #1d2321 } .stat { font-size: 44px; fill: #0b6e5f; text-anchor: middle }
.panel { fill: #fff; stroke: #d5dbd9 } .page { fill: #f3f5f4 } .axis { stroke: #d5dbd9 } path { fill: none; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #a7b3af } .title { fill: #e8eeec } .stat { fill: #4cc7b0 }
.panel { fill: #1a201e; stroke: #37413e } .page { fill: #111614 } .axis { stroke: #37413e } path { filter: brightness(1.35) } }
</style>
<rect class="page" width="${width}" height="${height}"/>
${drawn.join('\n')}
</svg>
`;
}

function panelOf(panel: DrawnPanel, from: number, to: number): string {
  const box = `<rect class="panel" width="${WIDTH}" height="${HEIGHT}" rx="4"/>`
    + `<text class="title" x="10" y="20">${escaped(cut(panel.title, TITLE_LENGTH))}</text>`;
  if (panel.lines.length === 0) return `${box}<text x="10" y="${HEIGHT / 2}">nothing happened</text>`;
  return box + (panel.type === 'stat' ? statOf(panel) : linesOf(panel, from, to));
}

function statOf({ lines, unit }: DrawnPanel): string {
  return `<text class="stat" x="${WIDTH / 2}" y="95">${shown(lines[0]!.points.at(-1)!.value, unit)}</text>`;
}

function linesOf({ lines, unit }: DrawnPanel, from: number, to: number): string {
  const [left, top, right, bottom] = [54, 32, WIDTH - 10, HEIGHT - 40];
  const highest = Math.max(...lines.flatMap(({ points }) => points.map(({ value }) => value))) || 1;
  const x = (at: number) => Math.round(left + ((at - from) / (to - from)) * (right - left));
  const y = (value: number) => (bottom - (value / highest) * (bottom - top)).toFixed(1);
  // The most telling ones first: there is room for few names.
  const ranked = [...lines].sort((a, b) => sum(b) - sum(a));
  const paths = ranked.map(({ points }, nth) =>
    `<path stroke="${COLOURS[nth % COLOURS.length]}" d="M${points.map(({ at, value }) => `${x(at)} ${y(value)}`).join('L')}"/>`);
  const names = ranked.slice(0, SHOWN_LINES).map(({ name }, nth) => {
    const [atX, atY] = [10 + (nth % 2) * (WIDTH / 2 - 5), HEIGHT - 22 + Math.floor(nth / 2) * 14];
    const dot = `<circle cx="${atX + 3}" cy="${atY - 3}" r="3" fill="${COLOURS[nth]}"/>`;
    return `${dot}<text x="${atX + 10}" y="${atY}">${escaped(cut(name, NAME_LENGTH))}</text>`;
  });
  return `<path class="axis" d="M${left} ${bottom}H${right}M${left} ${top}H${right}"/>`
    + `<text x="10" y="${top + 4}">${shown(highest, unit)}</text><text x="10" y="${bottom}">0</text>${paths.join('')}${names.join('')}`;
}

const sum = ({ points }: Line) => points.reduce((all, { value }) => all + value, 0);
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function shown(value: number, unit: string): string {
  if (unit === 's') return value < 1 ? `${Math.round(value * 1_000)} ms` : `${Number(value.toPrecision(2))} s`;
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
