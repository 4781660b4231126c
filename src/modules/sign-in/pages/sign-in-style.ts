/** The look of the pages that people use. Phone first; both schemes; nothing is loaded besides. */
export const SIGN_IN_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f5f6f3; --panel: #ffffff; --ink: #1b2220; --soft: #55605d; --line: #dde2de; --edge: #848f8b; --accent: #0b6e5f;
  --on-accent: #ffffff; --press: #095a4e; --veil: #eef3f0; --bad: #a5281f; --bad-veil: #fcefed; --good: #1f6b43; --good-veil: #eaf5ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15191a; --panel: #1f2426; --ink: #e6e9e8; --soft: #a6b0ae; --line: #343c3e; --edge: #77827f; --accent: #5fd0bb;
    --on-accent: #0d1f1b; --press: #7fdccb; --veil: #283032; --bad: #ff9d92; --bad-veil: #3a2422; --good: #86d6a6; --good-veil: #1e3328;
  }
}
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: break-word; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 6px; }
.top { display: flex; justify-content: center; padding: clamp(1.25rem, 6vh, 4rem) 1rem 1.25rem; }
.name { display: inline-flex; align-items: center; gap: .55rem; color: var(--ink); font-size: 1.2rem; font-weight: 650;
  letter-spacing: -.01em; text-decoration: none; }
.name svg { fill: none; stroke: var(--soft); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.name .tick { stroke: var(--accent); stroke-width: 2.6; }
main { width: 100%; max-width: 26rem; margin: 0 auto; padding: 0 1rem 3rem; }
main.wide { max-width: 42rem; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 16px; padding: 1.5rem 1.25rem; }
.card + .card, .note + .card, .card + .note { margin-top: 1rem; }
h1 { margin: 0 0 .35rem; font-size: 1.45rem; line-height: 1.25; letter-spacing: -.015em; text-wrap: balance; }
h2 { margin: 0 0 .2rem; font-size: 1.08rem; line-height: 1.35; }
p { margin: 0 0 1rem; }
.card > :last-child, .note > :last-child { margin-bottom: 0; }
.lead, .meta, .hint { color: var(--soft); }
.lead { margin-bottom: 1.25rem; }
.meta, .hint { font-size: .9rem; }
.foot { margin: 1.25rem 0 0; color: var(--soft); font-size: .9rem; text-align: center; text-wrap: balance; }
footer.foot { margin: 0; padding: 0 1rem 2rem; }
.number { margin: 1rem 0 0; color: var(--soft); font: .8rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
form { margin: 0; }
.field { margin: 0 0 1rem; }
label, .label { display: block; margin: 0 0 .3rem; font-size: .93rem; font-weight: 600; }
input:not([type=radio], [type=hidden]) { display: block; width: 100%; min-height: 3rem; padding: .5rem .8rem; border: 1px solid var(--edge);
  border-radius: 10px; background: var(--panel); color: var(--ink); font: inherit; }
input[readonly] { background: var(--veil); border-color: var(--line); color: var(--soft); }
input[aria-invalid=true] { border-color: var(--bad); }
.hint { margin: .35rem 0 0; }
details { margin: 0 0 1rem; }
summary { padding: .6rem 0; color: var(--soft); font-size: .9rem; cursor: pointer; }
details .field { margin: .3rem 0 0; }
.button { display: inline-flex; align-items: center; justify-content: center; gap: .55rem; width: 100%; min-height: 3rem; margin: 0;
  padding: .55rem 1.1rem; border: 1px solid transparent; border-radius: 10px; background: var(--accent); color: var(--on-accent);
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; }
.button:hover { background: var(--press); }
.button.plain { background: none; border-color: var(--edge); color: var(--ink); }
.button.plain:hover { background: var(--veil); }
.button[aria-busy=true], .button:disabled { opacity: .65; cursor: progress; }
.button svg { flex: none; width: 1.35em; height: 1.35em; fill: none; stroke: currentColor; stroke-width: 1.9; stroke-linecap: round;
  stroke-linejoin: round; }
.button.small { width: auto; min-height: 2.75rem; padding: .3rem .9rem; font-size: .93rem; }
.or { display: flex; align-items: center; gap: .8rem; margin: 1.1rem 0; color: var(--soft); font-size: .9rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.note { margin: 0 0 1rem; padding: .75rem .9rem; border-radius: 10px; font-size: .95rem; }
.note.bad { background: var(--bad-veil); color: var(--bad); }
.note.good { background: var(--good-veil); color: var(--good); }
.choices { margin: 0 0 1rem; padding: 0; border: 0; min-width: 0; }
.choices legend { padding: 0; margin: 0 0 .4rem; font-size: .93rem; font-weight: 600; }
.choice { display: flex; align-items: center; gap: .7rem; min-height: 3rem; margin: 0 0 .5rem; padding: .5rem .8rem; font-weight: 400;
  border: 1px solid var(--edge); border-radius: 10px; cursor: pointer; }
.choice:has(:checked) { border-color: var(--accent); background: var(--veil); }
.choice input { flex: none; width: 1.15rem; height: 1.15rem; margin: 0; accent-color: var(--accent); }
.who { display: flex; align-items: center; gap: .9rem; }
.who > div { min-width: 0; flex: 1; }
.who h1 { margin: 0; }
.who p { margin: .1rem 0 0; }
.sign { flex: none; display: grid; place-items: center; width: 3rem; height: 3rem; border-radius: 50%; background: var(--veil);
  color: var(--accent); font-size: 1.2rem; font-weight: 650; text-transform: uppercase; }
.actions { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1.25rem 0 0; }
.rows { list-style: none; margin: .6rem 0 0; padding: 0; }
.rows li { display: flex; align-items: center; gap: 1rem; min-height: 4rem; padding: .6rem 0; border-top: 1px solid var(--line); }
.rows li:first-child { border-top: 0; }
.rows li:last-child { padding-bottom: 0; }
.rows div { flex: 1; min-width: 0; }
.rows p { margin: 0; }
.rows strong { font-weight: 600; }
.tag { display: inline-block; margin-left: .35rem; padding: .05rem .5rem; border-radius: 999px; background: var(--good-veil);
  color: var(--good); font-size: .8rem; font-weight: 600; white-space: nowrap; }
.facts { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1rem; margin: 0 0 1.25rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; min-width: 0; font-weight: 500; }
.more { margin-top: 1rem; }
textarea { display: block; width: 100%; padding: .6rem .8rem; border: 1px solid var(--edge); border-radius: 10px; background: var(--panel);
  color: var(--ink); font: inherit; resize: vertical; }
.card > h2 + form { margin-top: .7rem; }
details form .field { margin-bottom: 1rem; }
.payload { margin: .5rem 0 1rem; padding: .8rem .9rem; border: 1px solid var(--line); border-radius: 10px; background: var(--veil);
  font: .88rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.digest { margin: 0; font: .8rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.said { margin: .25rem 0 0; white-space: pre-wrap; font-weight: 400; }
.reasons { margin: .4rem 0 0; padding-left: 1.2rem; }
.reasons li { margin: 0 0 .3rem; }
.note p { margin: 0 0 .5rem; }
.tag.bad { background: var(--bad-veil); color: var(--bad); }
.button.bad { background: none; border-color: var(--bad); color: var(--bad); }
.button.bad:hover { background: var(--bad-veil); }
details > summary { display: inline-flex; align-items: center; min-height: 2.75rem; color: var(--accent); font-weight: 600;
  cursor: pointer; }
details[open] > summary { margin-bottom: .5rem; }
@media (min-width: 34rem) {
  .card { padding: 2rem; }
  .wide .card { padding: 1.5rem 1.75rem; }
  .wide .button:not(.small) { width: auto; min-width: 12rem; }
  .wide .field:not(:has(textarea)) { max-width: 24rem; }
}
@media (prefers-reduced-motion: no-preference) {
  .button, .choice, input, textarea { transition: background-color .12s, border-color .12s; }
}
@media (forced-colors: active) { .card, .button, .note { border: 1px solid; } }
`;
