/** Titles that break careless XML. */
export const hostileTitles = [
  [
    'markup, an entity, right-to-left text, control characters and half of a surrogate pair',
    `<b>"Fish" & 'chips'</b> ]]> &amp; </title><!DOCTYPE x [<!ENTITY a "b">]>&a;<?php x?><!-- --` +
      ' المد والجزر \u202e(2) a\u0001b\u000bc\ufffed a\ud800b',
  ],
  ['200 characters', '𝕋'.repeat(200)],
] as const;
