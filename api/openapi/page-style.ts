/** The style of the API page. It asks for nothing from anywhere; fonts are the reader's own. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --text: #1c2430; --soft: #566173; --line: #dde2ea; --page: #ffffff; --panel: #f5f7fa; --code: #eef1f6;
  --link: #0b57a4; --green: #0b6b4f; --amber: #8a5200; --red: #a3262c;
  --green-soft: #e3f4ec; --blue-soft: #e4eefa; --amber-soft: #faefdc; --red-soft: #fae6e6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e9ef; --soft: #a3adbd; --line: #333b49; --page: #14181f; --panel: #1b212b; --code: #242c39;
    --link: #82b8ff; --green: #5fd0a8; --amber: #f0b866; --red: #ff9a9f;
    --green-soft: #16352b; --blue-soft: #1a2f4a; --amber-soft: #3a2c14; --red-soft: #431f23;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; color: var(--text); background: var(--page); overflow-wrap: break-word;
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
}
a { color: var(--link); }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre, .texts { font: 0.85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--code); padding: 0.1em 0.3em; border-radius: 4px; overflow-wrap: anywhere; }
a code { color: inherit; }
pre {
  margin: 0.5rem 0; padding: 0.8rem 1rem; max-height: 26rem; overflow: auto; font-size: 0.8rem;
  white-space: pre-wrap; overflow-wrap: anywhere; background: var(--panel); border: 1px solid var(--line);
  border-radius: 8px;
}
pre code { background: none; padding: 0; font: inherit; }
.command code { display: block; user-select: all; -webkit-user-select: all; }
.soft, small { color: var(--soft); font-weight: 400; }
.skip { position: absolute; left: -999px; z-index: 3; }
.skip:focus { left: 1rem; top: 1rem; background: var(--page); padding: 0.5rem; }
.bar, .close { display: none; }
.layout { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }

nav {
  position: sticky; top: 0; align-self: start; height: 100vh; overflow-y: auto;
  padding: 1.5rem 1rem 2rem 1.25rem; background: var(--panel); border-right: 1px solid var(--line); font-size: 0.875rem;
}
nav .name { margin: 0 0 1.25rem; font-weight: 700; font-size: 1.05rem; }
nav .name a { color: inherit; text-decoration: none; }
nav ul { list-style: none; margin: 0 0 1.1rem; padding: 0; }
nav li a { display: block; padding: 0.2rem 0; color: var(--text); text-decoration: none; }
nav li a:hover { color: var(--link); text-decoration: underline; }
nav .group { margin: 0 0 0.2rem; color: var(--soft); font-weight: 600; }
nav .to-endpoint { display: flex; gap: 0.5rem; align-items: baseline; }
nav .method { flex: 0 0 2.9rem; padding: 0; background: none; font-size: 0.68rem; }

main { padding: 2.25rem 2.5rem 6rem; max-width: 84rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 0.25rem; }
h1 small { font-size: 1rem; }
h2 { font-size: 1.5rem; margin: 3.5rem 0 0.5rem; padding-bottom: 0.4rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.25rem; margin: 0 0 0.5rem; }
h4 { font-size: 0.95rem; margin: 1.5rem 0 0.4rem; }
h4 .soft { font-size: 0.85rem; margin-left: 0.3rem; }
.overview, .schema { max-width: 50rem; }
.overview h2 { margin-top: 2.25rem; font-size: 1.3rem; }
.overview li { margin: 0.35rem 0; }

.operation { padding: 2rem 0 2.25rem; border-bottom: 1px solid var(--line); }
.address { display: flex; flex-wrap: wrap; gap: 0.4rem 0.6rem; align-items: baseline; margin: 0 0 0.8rem; }
.address code { background: none; padding: 0; font-size: 0.92rem; }
.method, .status {
  padding: 0.15rem 0.45rem; border-radius: 5px; font: 700 0.78rem/1.3 ui-monospace, Menlo, Consolas, monospace;
}
.get, .of-2 { color: var(--green); background: var(--green-soft); }
.post, .of-3 { color: var(--link); background: var(--blue-soft); }
.of-4 { color: var(--amber); background: var(--amber-soft); }
.delete, .of-5 { color: var(--red); background: var(--red-soft); }
.samples h4:first-child { margin-top: 0.5rem; }

dl { margin: 0; font-size: 0.94rem; }
dt { padding-top: 0.55rem; border-top: 1px solid var(--line); }
dl > dt:first-child { border-top: 0; }
dt code { font-weight: 600; }
dt .type { color: var(--soft); margin-left: 0.5rem; }
dd { margin: 0.1rem 0 0.6rem; }
dd p { margin: 0.2rem 0; }
.mark { margin-left: 0.5rem; color: var(--soft); font-size: 0.82rem; }
.mark.required { color: var(--red); }

.answer { padding: 0.55rem 0; border-top: 1px solid var(--line); font-size: 0.94rem; }
.answer > p { margin: 0 0 0.2rem; }
.answer .status { margin-right: 0.35rem; }
.texts { list-style: none; margin: 0.3rem 0; padding: 0; }
.texts li { margin: 0.2rem 0; padding-left: 0.7rem; border-left: 3px solid var(--line); }
details { font-size: 0.9rem; }
summary { cursor: pointer; padding: 0.2rem 0; color: var(--soft); }
summary:hover { color: var(--text); }
details > :not(summary) { margin-left: 1rem; }
details ul { padding-left: 1rem; }
.schema { padding: 1.5rem 0 0.75rem; border-bottom: 1px solid var(--line); }
:target > h3, :target > .head > h3 { color: var(--link); }

@media (min-width: 1180px) {
  .operation {
    display: grid; grid-template: 'head samples' auto 'rest samples' 1fr / minmax(0, 1fr) minmax(0, 26rem);
    column-gap: 2.5rem;
  }
  .head { grid-area: head; }
  .rest { grid-area: rest; }
  .samples { grid-area: samples; position: sticky; top: 1.25rem; align-self: start; }
  .samples pre { max-height: 38vh; }
}
@media (max-width: 860px) {
  html { scroll-padding-top: 3.5rem; }
  .layout { display: block; }
  .bar {
    position: sticky; top: 0; z-index: 1; display: flex; justify-content: space-between; margin: 0;
    padding: 0.65rem 1rem; background: var(--panel); border-bottom: 1px solid var(--line); font-weight: 600;
  }
  .bar a:first-child { color: inherit; text-decoration: none; }
  nav { display: none; position: fixed; inset: 0; z-index: 2; height: 100%; border: 0; }
  nav:target { display: block; }
  .close { display: block; float: right; font-size: 1rem; font-weight: 600; }
  nav li a { padding: 0.4rem 0; }
  main { padding: 1.25rem 1rem 4rem; }
  h1 { font-size: 1.6rem; }
  h2 { font-size: 1.3rem; }
}
@media print {
  nav, .bar, .close { display: none; }
  .layout { display: block; }
  pre { max-height: none; }
}
`;
