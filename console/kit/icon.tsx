import type { JSX } from 'preact';

/** SVG paths in a square of 24 units. */
const paths = {
  archive: 'M3.5 5h17v4h-17zM5 9v10h14V9M10 13h4',
  back: 'M19 12H5M11 6l-6 6 6 6',
  bell: 'M6 16.5v-5.5a6 6 0 0 1 12 0v5.5l1.5 2h-15zM10 21h4',
  book: 'M12 7C9.5 5.2 6.5 4.8 3.5 5v13c3 0 6 .5 8.5 2c2.5-1.5 5.5-2 8.5-2V5c-3-.2-6 .2-8.5 2zm0 0v13',
  chart: 'M4 20h16M7 16v-5M12 16V5M17 16v-8',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  close: 'M6.5 6.5l11 11m0-11l-11 11',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  down: 'M6 9.5l6 6 6-6',
  download: 'M12 4v11m-5-4.5l5 5 5-5M5 20h14',
  embed: 'M8.5 7l-5 5 5 5M15.5 7l5 5-5 5',
  eye: 'M2.5 12C5 7.5 8.5 5.5 12 5.5s7 2 9.5 6.5c-2.5 4.5-6 6.5-9.5 6.5S5 16.5 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5',
  filter: 'M4 6h16M7 12h10M10 18h4',
  forward: 'M5 12h14M13 6l6 6-6 6',
  globe:
    'M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 0 0 0-17M3.5 12h17M12 3.5c3 2.5 3.5 5.5 3.5 8.5s-.5 6-3.5 8.5c-3-2.5-3.5-5.5-3.5-8.5s.5-6 3.5-8.5',
  history: 'M4 12a8 8 0 1 1 2.5 5.8M4 12l-1.5-2.5M4 12l2.5-1.5M12 8v4.5l3 1.5',
  key: 'M14.5 3.5a6 6 0 1 1-3.7 10.7L4 21m3-3l2.5 2.5M14.5 9.5v.01',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M5 12a.6.6 0 1 0 1.2 0a.6.6 0 1 0-1.2 0M11.4 12a.6.6 0 1 0 1.2 0a.6.6 0 1 0-1.2 0M17.8 12a.6.6 0 1 0 1.2 0a.6.6 0 1 0-1.2 0',
  open: 'M13 5h6v6M19 5l-8 8M11 6H5v13h13v-6',
  person: 'M12 4a4 4 0 1 0 0 8a4 4 0 0 0 0-8M4.5 20c.7-4 3.8-5.5 7.5-5.5s6.8 1.5 7.5 5.5',
  plug: 'M8 3v5M16 3v5M5.5 8h13v3a6.5 6.5 0 0 1-13 0zM12 17.5V21',
  plus: 'M12 5v14M5 12h14',
  redo: 'M19 9.5h-9a5 5 0 0 0 0 10h5M15.5 5.5l4 4-4 4',
  search: 'M10.5 4.5a6 6 0 1 0 0 12a6 6 0 0 0 0-12M15 15l5 5',
  send: 'M4 12L20 4l-5 16-4-6.5zM11 13.5L20 4',
  shield: 'M12 3.5l7.5 3v5c0 4.5-3 7.5-7.5 9c-4.5-1.5-7.5-4.5-7.5-9v-5z',
  trash: 'M4.5 7h15M9 7V4.5h6V7M6.5 7l1 13h9l1-13M10 11v5M14 11v5',
  undo: 'M5 9.5h9a5 5 0 0 1 0 10H9M8.5 5.5l-4 4 4 4',
  upload: 'M12 16V5m-5 4.5l5-5 5 5M5 20h14',
  warning: 'M12 4L2.5 20h19L12 4M12 10v4.5M12 17v.5',
};

export type IconName = keyof typeof paths;

/** A decorative icon in the color of the text. Screen readers skip it, so put a text beside it. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
