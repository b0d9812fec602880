import { pageStyle } from '../embed/page-style.ts';

/** Notices look as those of the embed page do, and may have a button. */
export const launchPageStyle = `${pageStyle}
.notice form { margin: 1.5rem 0 0; }
.notice button {
  padding: .6rem 1.2rem; border: 0; border-radius: .5rem; background: #1f5fbf; color: #fff;
  font: inherit; font-weight: 600; cursor: pointer;
}
.notice button:hover { background: #174c9c; }
.notice button:focus-visible { outline: 3px solid #7db0ff; outline-offset: 2px; }
`;
