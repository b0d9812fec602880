/** Each is a sentence, or the label of a button. */
export interface NoticeWords {
  elsewhere: string;
  conflict: string;
  continueHere: string;
  offline: string;
  kept: string;
  keepOpen: string;
  expired: string;
  gone: string;
  lost: string;
  saved: string;
  stuck: string;
  reload: string;
  back: string;
  preview: string;
  authorPreview: string;
  anonymous: string;
}

/** A sentence that a learner may be told of what becomes of the answers. */
export type NoticeText = Exclude<
  keyof NoticeWords,
  'continueHere' | 'reload' | 'back' | 'preview' | 'authorPreview' | 'anonymous'
>;
