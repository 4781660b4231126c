/** Styles of the documentation's own parts; Swagger UI brings its own, and its own dark ones. */
export const DOCS_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fafaf8; --panel: #ffffff; --ink: #1d2321; --soft: #5a6562; --line: #dfe3e0; --accent: #0b6e5f; --code: #f1f3f0;
  --edge: #8a938f; --run: #2b7d4f; --ask: #8f5a00; --stop: #b3372f; --chain: #3d5a99;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #1c2022; --panel: #24292b; --ink: #e4e6e6; --soft: #a9b2b2; --line: #3a4143; --accent: #5fd0bb; --code: #15191a;
    --edge: #6d7779; --run: #6fcf97; --ask: #f0b35a; --stop: #f08a80; --chain: #9db7f2;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.bar { position: sticky; top: 0; z-index: 5; display: flex; align-items: center; gap: .5rem 1rem;
  padding: .6rem max(1rem, calc((100% - 74rem) / 2)); background: var(--panel); border-bottom: 1px solid var(--line); }
.name { display: flex; align-items: center; gap: .5rem; font-weight: 650; font-size: 1.1rem; color: var(--ink);
  text-decoration: none; }
.name svg { fill: none; stroke: var(--soft); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.name svg .tick { stroke: var(--accent); stroke-width: 2.6; }
.bar nav { display: flex; gap: .25rem; }
.bar form { position: relative; flex: 1; max-width: 30rem; margin-left: auto; }
.bar input { width: 100%; padding: .4rem .7rem; font: inherit; font-size: 1rem; color: var(--ink); background: var(--ground);
  border: 1px solid var(--edge); border-radius: 8px; }
.bar input::placeholder { color: var(--soft); opacity: 1; }
.found { position: absolute; top: calc(100% + .4rem); right: 0; width: max(100%, min(38rem, 100vw - 2rem)); max-height: min(70vh, 34rem);
  overflow-y: auto; padding: .4rem; background: var(--panel); border: 1px solid var(--line); border-radius: 12px;
  box-shadow: 0 12px 32px rgb(0 0 0 / .22); }
.found > p { margin: .4rem .6rem; color: var(--soft); }
.results { list-style: none; margin: 0; padding: 0; }
.results li { padding: .5rem .6rem; border-radius: 8px; color: var(--soft); overflow-wrap: anywhere; }
.results li:hover, .results li:focus-within { background: var(--code); }
.results a { display: block; color: var(--ink); font-weight: 550; text-decoration: none; }
.results code { font-weight: 500; }
.results .met code { background: var(--code); padding: .1em .35em; border-radius: 4px; }
.results li:hover .met code, .results li:focus-within .met code { background: var(--ground); }
.kind { display: inline-block; min-width: 4.6em; margin-right: .3rem; font-size: .78rem; font-weight: 650; letter-spacing: .03em;
  color: var(--accent); }
.kind.get { color: var(--chain); } .kind.post { color: var(--run); } .kind.delete { color: var(--stop); }
.kind.patch, .kind.put { color: var(--ask); }
main > .results { max-width: 50rem; margin-top: 1rem; }
.guides { columns: 2; column-gap: 2rem; padding-left: 1.4rem; }
.guides li { break-inside: avoid; margin: 0 0 .7rem; }
.guides a { font-weight: 600; } .guides span { display: block; color: var(--soft); font-size: .93rem; }
.guide > :not(pre, .block, .wide) { max-width: 56rem; }
.guide > h1 { max-width: 32ch; }
.guide li { margin: .35rem 0; }
.guide pre { margin: .8rem 0; }
.guide pre.shown { background: none; border: 1px solid var(--line); border-left: 3px solid var(--accent); white-space: pre-wrap;
  overflow-wrap: anywhere; }
.guide table { border-collapse: collapse; }
.guide th, .guide td { padding: .4rem .7rem .4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
.wide { overflow-x: auto; }
.guide td:first-child code { white-space: nowrap; }
.next { margin-top: 2.4rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.block { position: relative; }
/* A strip of its own, where lines are longer than the block. */
.steps .block pre { padding-top: 2.4rem; }
.copy { position: absolute; top: .4rem; right: .4rem; padding: .15rem .6rem; font: inherit; font-size: .8rem; color: var(--soft);
  background: var(--panel); border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
.copy:hover { color: var(--ink); }
.bar nav a { padding: .3rem .6rem; border-radius: 6px; color: var(--soft); text-decoration: none; }
.bar nav a:hover { color: var(--ink); background: var(--code); }
.bar nav a[aria-current] { color: var(--ink); font-weight: 600; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: clamp(1.5rem, 1.1rem + 2vw, 2.2rem); line-height: 1.2; letter-spacing: -.015em; margin: .6rem 0 .4rem;
  max-width: 24ch; text-wrap: balance; }
.lead { color: var(--soft); font-size: 1.08rem; margin: 0 0 1.2rem; max-width: 60ch; }
.picture { background: var(--panel); border: 1px solid var(--line); border-radius: 14px; padding: 1rem; }
.gate { display: block; width: 100%; max-width: 54rem; height: auto; margin: 0 auto; }
.gate.tall { display: none; max-width: 24rem; }
.gate text { fill: var(--ink); font-size: 15px; font-weight: 600; text-anchor: middle; }
.gate text.small { fill: var(--soft); font-size: 12px; font-weight: 400; }
.gate .box > rect { fill: var(--ground); stroke: var(--line); stroke-width: 1.5; }
.gate .strong > rect { stroke: var(--accent); stroke-width: 2.5; }
.gate .run > rect { stroke: var(--run); } .gate .ask > rect { stroke: var(--ask); } .gate .stop > rect { stroke: var(--stop); }
.gate .chain > rect { stroke: var(--chain); }
.gate .links { fill: none; stroke: var(--chain); stroke-width: 2; }
.gate .flow { fill: none; stroke: var(--soft); stroke-width: 1.6; }
.gate .tip { fill: var(--soft); }
h2 { font-size: 1.3rem; margin: 2.2rem 0 .6rem; }
.steps { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; padding: 0; margin: 1rem 0 0; list-style: none;
  counter-reset: step; }
.steps li { min-width: 0; background: var(--panel); border: 1px solid var(--line); border-radius: 14px; padding: .9rem 1rem 1rem;
  counter-increment: step; }
.steps h3 { margin: 0 0 .5rem; font-size: 1rem; }
.steps h3::before { content: counter(step); display: inline-grid; place-items: center; width: 1.6em; height: 1.6em;
  margin-right: .5rem; border-radius: 50%; background: var(--accent); color: var(--panel); font-size: .85em; }
.steps p { margin: .5rem 0 0; color: var(--soft); font-size: .93rem; }
pre { margin: 0; padding: .8rem; background: var(--code); border-radius: 8px; overflow-x: auto; }
pre, code { font: .86rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
main > p code, .steps p code, .problem p code, .guide :not(pre) > code { background: var(--code); padding: .1em .35em; border-radius: 4px;
  overflow-wrap: anywhere; }
.problems { display: grid; gap: .7rem; margin: 1rem 0 0; }
.problem { background: var(--panel); border: 1px solid var(--line); border-radius: 12px; padding: .8rem 1rem; }
.problem:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.problem h3 { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem .7rem; margin: 0; font-size: 1rem; }
.problem h3 a { color: inherit; text-decoration: none; overflow-wrap: anywhere; }
.problem h3 a:hover { text-decoration: underline; }
.status { font-variant-numeric: tabular-nums; font-weight: 600; color: var(--accent); }
.problem p { margin: .25rem 0 0; }
.problem .do { color: var(--soft); }
.swagger-ui { font-family: inherit; }
.swagger-ui .wrapper { padding: 0; max-width: none; }
.swagger-ui .info, .swagger-ui .response-col_links { display: none; }
html.dark-mode, html.dark-mode .swagger-ui { background: var(--ground); }
.swagger-ui .scheme-container, html.dark-mode .swagger-ui .scheme-container {
  background: none; box-shadow: none; padding: 0 0 .5rem; margin: 0; }
.swagger-ui .wrapper .block, .swagger-ui .opblock-tag { padding-left: 0; padding-right: 0; }
.swagger-ui .opblock-tag, .swagger-ui .btn, .swagger-ui .opblock .opblock-summary-description { font-family: inherit; }
.swagger-ui .btn.authorize, html.dark-mode .swagger-ui .btn.authorize { color: var(--accent); border-color: var(--accent); }
.swagger-ui .btn.authorize svg, html.dark-mode .swagger-ui .btn.authorize svg { fill: var(--accent); }
@media (max-width: 46rem) {
  .gate.wide { display: none; }
  .gate.tall { display: block; }
  .steps { grid-template-columns: minmax(0, 1fr); }
  html { scroll-padding-top: 7rem; }
  .bar { flex-wrap: wrap; }
  .bar nav { order: 3; width: 100%; justify-content: space-between; gap: 0; }
  .bar nav a { padding: .3rem .4rem; font-size: .95rem; }
  .found { width: calc(100vw - 2rem); }
  .guides { columns: 1; }
  .block pre { padding-top: 2.4rem; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; overflow-wrap: anywhere; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; padding: .6rem 0; }
  .swagger-ui table.parameters, .swagger-ui table.responses-table { overflow-wrap: anywhere; }
}
@media print { .bar { position: static; } }
`;
