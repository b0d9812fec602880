/** How a notice looks that stands where a lesson would, or until it does. The player brings its own styles. */
export const pageStyle = `
:root { color-scheme: light dark; --back: #fff; --text: #1b2330; --soft: #566072; --line: #d5dbe5; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181f; --text: #e8ecf3; --soft: #a3aebf; --line: #323b49; }
}
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--text); }
.notice {
  box-sizing: border-box; max-width: 36rem; margin: 0 auto; padding: 2.5rem 1.25rem;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
.notice h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.3; }
.notice p { margin: 0; }
.notice a { color: inherit; }
.notice p + p { margin-top: 1rem; }
.notice .soft { margin-top: 1.5rem; padding-top: .75rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
.notice code { font-family: ui-monospace, Menlo, Consolas, monospace; }
@media (scripting: none) { .notice .loading { display: none; } }
`;
