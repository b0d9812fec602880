/** The CSS of the page where teachers choose lessons, in addition to that of all notice pages. */
export const selectionStyle = `
html { scroll-padding-block-end: 6rem; }
.notice.wide { max-width: 46rem; }
.wide { --accent: #1f5fbf; --mark: #eef4fd; --fault: #a8322b; }
@media (prefers-color-scheme: dark) { .wide { --accent: #8ab8ff; --mark: #1b2635; --fault: #f2a099; } }
.wide form { margin: 1.25rem 0 0; }
.wide fieldset { margin: 1.5rem 0 0; padding: 0; border: 0; min-inline-size: 0; }
.wide legend, .wide .search label { padding: 0; font-weight: 600; }
.wide ul { margin: .5rem 0 0; padding: 0; list-style: none; }
.wide li { border: 1px solid var(--line); border-radius: .625rem; }
.wide li + li { margin-top: .5rem; }
.wide li:has(.pick :checked) { border-color: var(--accent); background: var(--mark); }
.pick { display: flex; gap: .75rem; align-items: flex-start; padding: .75rem 1rem; cursor: pointer; }
.pick input, .options input { flex: none; width: 1.125rem; height: 1.125rem; margin: .25rem 0 0; accent-color: var(--accent); }
.options input { margin: 0; }
.pick b { display: block; font-weight: 600; }
.pick small { color: var(--soft); font-size: .875rem; }
.options { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; padding: 0 1rem .875rem; padding-inline-start: 2.875rem; font-size: .9375rem; }
.wide li:not(:has(.pick :checked)) .options { display: none; }
.options label { display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; min-inline-size: 0; }
.options select { max-inline-size: 100%; }
.options select, .search input {
  padding: .375rem .5rem; border: 1px solid #7b8896; border-radius: .5rem;
  background: var(--back); color: inherit; font: inherit;
}
.search { display: flex; flex-wrap: wrap; gap: .375rem .5rem; align-items: center; }
.search label { flex: 1 0 100%; }
.search input { flex: 1 1 12rem; min-inline-size: 0; min-block-size: 1.75rem; }
.wide button { padding: .5rem 1.1rem; min-block-size: 2.5rem; }
.wide button.quiet { background: none; color: inherit; box-shadow: inset 0 0 0 1px #7b8896; }
.wide button.quiet:hover { background: var(--mark); }
.wide input:focus-visible, .wide select:focus-visible { outline: 3px solid #7db0ff; outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .75rem; }
.row.end {
  position: sticky; bottom: 0; margin-top: 1.5rem; padding: .75rem 0;
  border-top: 1px solid var(--line); background: var(--back);
}
.wide .fault { margin-top: .75rem; color: var(--fault); font-weight: 600; }
.wide .none { margin-top: .5rem; color: var(--soft); }
`;
