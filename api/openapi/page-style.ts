/** The style of the API page. It asks for nothing from anywhere; fonts are the reader's own. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --text: #1c2430; --soft: #566173; --line: #dde2ea; --page: #ffffff; --panel: #f5f7fa; --link: #0b57a4;
  --get: #0b6b4f; --post: #0b57a4; --delete: #a3262c; --code: #f0f3f7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e9ef; --soft: #a3adbd; --line: #333b49; --page: #14181f; --panel: #1b212b; --link: #82b8ff;
    --get: #5fd0a8; --post: #82b8ff; --delete: #ff9a9f; --code: #222a36;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; color: var(--text); background: var(--page);
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
}
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: 0.86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--code); padding: 0.1em 0.3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--code); padding: 0.8rem 1rem; border-radius: 6px; overflow: auto; max-height: 28rem; margin: 0.5rem 0; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--page); padding: 0.5rem; }
.layout { display: grid; grid-template-columns: 18rem minmax(0, 1fr); }
nav {
  position: sticky; top: 0; align-self: start; height: 100vh; overflow-y: auto;
  padding: 1.5rem 1rem 2rem 1.5rem; background: var(--panel); border-right: 1px solid var(--line); font-size: 0.9rem;
}
nav p { margin: 0 0 1rem; font-weight: 700; font-size: 1.05rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li a { display: block; padding: 0.2rem 0; color: var(--text); text-decoration: none; }
nav li a:hover { text-decoration: underline; }
nav .group { margin: 0 0 0.2rem; color: var(--soft); font-weight: 600; font-size: 0.85rem; }
main { padding: 2rem 2.5rem 5rem; max-width: 60rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.5rem; margin: 3rem 0 0.25rem; padding-bottom: 0.4rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.2rem; margin: 0 0 0.5rem; }
h4 { font-size: 1rem; margin: 1.4rem 0 0.4rem; }
h1 small { font-size: 1rem; font-weight: 400; color: var(--soft); }
.operation, .schema { padding: 1.6rem 0 0.6rem; border-bottom: 1px solid var(--line); }
.address { display: flex; flex-wrap: wrap; gap: 0.4rem 0.6rem; align-items: baseline; margin: 0 0 0.6rem; }
.address code { background: none; padding: 0; font-size: 0.95rem; }
.method { font: 700 0.85rem/1.4 ui-monospace, Menlo, Consolas, monospace; color: var(--soft); }
.method.get { color: var(--get); }
.method.post { color: var(--post); }
.method.delete { color: var(--delete); }
.soft { color: var(--soft); }
dl { margin: 0; font-size: 0.94rem; }
dt { padding-top: 0.5rem; border-top: 1px solid var(--line); }
dl > dt:first-child { border-top: 0; }
dt .type { color: var(--soft); margin-left: 0.5rem; }
dd { margin: 0.1rem 0 0.6rem; }
dd p { margin: 0.2rem 0; }
.mark { color: var(--soft); margin-left: 0.5rem; font-size: 0.85rem; }
.mark.required { color: var(--delete); }
details { border-top: 1px solid var(--line); }
details details { border: 0; }
summary { cursor: pointer; padding: 0.45rem 0; }
summary strong { font-variant-numeric: tabular-nums; margin-right: 0.4rem; }
details > .inside { padding: 0 0 0.8rem 1.1rem; }
.inside ul { margin: 0.3rem 0; padding-left: 1.1rem; }
@media (max-width: 860px) {
  .layout { display: block; }
  nav { position: static; height: auto; max-height: 18rem; border-right: 0; border-bottom: 1px solid var(--line); padding: 1rem; }
  main { padding: 1.25rem 1rem 4rem; }
  h1 { font-size: 1.6rem; }
  h2 { font-size: 1.3rem; }
}
@media print {
  nav { display: none; }
  .layout { display: block; }
  pre { max-height: none; }
}
`;
