/** The style of all pages. */
export const style = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1d2433, #e6e9f0);
  --soft: light-dark(#566076, #a4adbf);
  --paper: light-dark(#f5f6f9, #14171f);
  --card: light-dark(#ffffff, #1d222d);
  --line: light-dark(#d5dae4, #343c4c);
  --accent: light-dark(#2a4fb8, #8fb0ff);
  --on-accent: light-dark(#ffffff, #10141d);
  --good: light-dark(#16653a, #6fd79b);
  --bad: light-dark(#a3212c, #ff9aa2);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; align-items: center; padding: 0.75rem 1.5rem;
  background: var(--card); border-bottom: 1px solid var(--line); }
.brand { margin: 0; font-weight: 650; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem; margin: 0; padding: 0; list-style: none; }
nav a { display: block; padding: 0.35rem 0.8rem; border-radius: 0.4rem; color: inherit; text-decoration: none; }
nav a:hover { background: var(--paper); }
nav a[aria-current] { background: var(--accent); color: var(--on-accent); }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem; }
.framed main { max-width: 40rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 0 0 0.75rem; }
a { color: var(--accent); }
.card { margin: 0 0 1.25rem; padding: 1.1rem 1.25rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 0.7rem; }
.soft { color: var(--soft); }
.small { font-size: 0.875rem; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.row { display: flex; flex-wrap: wrap; gap: 0.6rem 1.25rem; align-items: end; }
.between { justify-content: space-between; align-items: center; margin-bottom: 0.75rem; }
.between h2 { margin: 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.plain { margin: 0; padding: 0; list-style: none; }
.links > li { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; justify-content: space-between; align-items: center;
  padding: 0.6rem 0; border-top: 1px solid var(--line); }
.links p { margin: 0; }
label { display: block; font-weight: 600; font-size: 0.9rem; }
label.check { display: flex; gap: 0.45rem; align-items: center; font-weight: 400; padding: 0.45rem 0; }
fieldset { margin: 0; padding: 0; border: 0; }
legend { padding: 0; font-weight: 600; font-size: 0.9rem; }
input:not([type='checkbox'], [type='hidden']), select, textarea { display: block; width: 100%; margin-top: 0.2rem;
  padding: 0.45rem 0.6rem; font: inherit; font-weight: 400; color: inherit; background: var(--paper); border: 1px solid var(--soft);
  border-radius: 0.4rem; }
.row select { width: auto; }
.fields { display: grid; gap: 0.8rem 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr));
  margin-bottom: 1rem; }
button, .button { display: inline-block; padding: 0.45rem 0.95rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 0.4rem;
  text-decoration: none; }
button.quiet { color: var(--accent); background: transparent; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
details > summary { cursor: pointer; }
.card > details { margin-top: 0.8rem; }
.card > details[open] > summary { margin-bottom: 0.8rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; text-align: start; vertical-align: top; border-top: 1px solid var(--line); }
thead th { border-top: 0; font-size: 0.875rem; color: var(--soft); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.25rem 1.25rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: 0.85rem/1.45 ui-monospace, monospace; }
pre { margin: 0.6rem 0 0; padding: 0.75rem; overflow: auto; max-height: 28rem; background: var(--paper);
  border-radius: 0.4rem; }
caption { text-align: start; }
.messages > li { padding: 0.5rem 0; border-top: 1px solid var(--line); }
.messages > li:first-child { border-top: 0; }
iframe.tool { display: block; width: 100%; height: 36rem; background: #fff; border: 1px solid var(--line);
  border-radius: 0.5rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.4rem; } }
`;
