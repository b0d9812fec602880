/** The CSS of the page where teachers choose lessons, in addition to that of all notice pages. */
export const selectionStyle = `
html { scroll-padding-block-end: 6rem; }
.notice.wide { max-inline-size: 48rem; margin-block: 0; padding-block: 2rem 0; border: 0; background: none; }
.wide form { margin: 1.25rem 0 0; }
.wide fieldset { margin: 1.5rem 0 0; padding: 0; border: 0; min-inline-size: 0; }
.wide legend, .wide .search label { padding: 0; font-weight: 600; }
.wide ul { margin: .5rem 0 0; padding: 0; list-style: none; }
.wide li { border: 1px solid var(--lectern-line); border-radius: var(--lectern-radius); }
.wide li + li { margin-top: .5rem; }
.wide li:has(.pick :checked) { border-color: var(--lectern-accent); background: var(--lectern-accent-soft); }
.pick { display: flex; gap: .75rem; align-items: flex-start; padding: .75rem 1rem; cursor: pointer; }
.pick input, .options input { flex: none; width: 1.125rem; height: 1.125rem; margin: .25rem 0 0; accent-color: var(--lectern-accent); }
.options input { margin: 0; }
.pick b { display: block; font-weight: 600; }
.pick > span { flex: 1; min-inline-size: 0; }
.pick img { flex: none; inline-size: 6rem; block-size: 4rem; border-radius: calc(var(--lectern-radius) / 2); object-fit: cover; }
@media (max-width: 36rem) {
  .notice.wide { margin-inline: 0; padding-inline: 1rem; }
  .notice.wide button { padding-inline: .875rem; }
  .pick img { inline-size: 4rem; block-size: 3rem; }
}
.preview { display: inline-block; margin-inline-start: 2.875rem; padding-block: 0 .75rem; font-size: .9375rem; }
.pick small { color: var(--lectern-text-muted); font-size: .875rem; }
.options { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; padding: 0 1rem .875rem; padding-inline-start: 2.875rem; font-size: .9375rem; }
.wide li:not(:has(.pick :checked)) .options { display: none; }
.options label { display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; min-inline-size: 0; }
.options select { max-inline-size: 100%; }
.options select, .search input {
  padding: .375rem .5rem; border: 1px solid var(--lectern-line-strong); border-radius: var(--lectern-radius);
  background: var(--lectern-page); color: inherit; font: inherit;
}
.search { display: flex; flex-wrap: wrap; gap: .375rem .5rem; align-items: center; }
.search label { flex: 1 0 100%; }
.search input { flex: 1 1 12rem; min-inline-size: 0; min-block-size: 1.75rem; }
.wide button.quiet { border-color: var(--lectern-line-strong); background: none; color: inherit; }
.wide button.quiet:hover { border-color: var(--lectern-line-strong); background: var(--lectern-accent-soft); }
.row { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .75rem; }
.row.end {
  position: sticky; bottom: 0; margin-top: 1.5rem; padding: .75rem 0;
  border-top: 1px solid var(--lectern-line); background: var(--lectern-page);
}
.wide .fault { margin-top: .75rem; color: var(--lectern-wrong); font-weight: 600; }
.wide .none { margin-top: .5rem; color: var(--lectern-text-muted); }
`;
