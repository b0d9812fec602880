/** A lectern with an open book, for light and dark tabs. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<style>path{fill:none;stroke:#0b57a4;stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}
@media (prefers-color-scheme:dark){path{stroke:#82b8ff}}</style>
<path d="M16 9C12.5 6.5 8 6 3.5 6.5v11C8 17 12.5 17.500 16 20c3.500-2.500 8-3 12.500-2.500v-11C24 6 19.500 6.500 16 9zm0 0v11m0 2v6m-6 0h12"/>
</svg>
`;
