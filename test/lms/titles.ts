/** Titles that break careless XML. */
export const hostileTitles = [
  ['markup and quotes', `<b>"Fish" & 'chips'</b> ]]> &amp; </title>`],
  ['an entity and a processing instruction', '<!DOCTYPE x [<!ENTITY a "b">]>&a;<?php x?><!-- --'],
  ['right-to-left text', 'المد والجزر \u202e(2)'],
  ['200 characters', '𝕋'.repeat(200)],
  ['control characters', 'a\u0001b\u000bc\ufffed'],
  ['half of a surrogate pair', 'a\ud800b'],
] as const;
