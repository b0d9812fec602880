/** Made by build.ts: the messages of each language other than English, a Catalog of shared/i18n/message.ts. */
declare module 'messages:languages' {
  export const loadMessages: Partial<Record<string, () => Promise<{ default: object }>>>;
}

/** Made by build.ts: the texts of widgets' fields in each language other than English, by the English ones. */
declare module 'messages:fields' {
  export const loadFieldTexts: Partial<Record<string, () => Promise<{ default: Record<string, string> }>>>;
}

/** Made by build.ts: English messages of a page, which are added when it is loaded. */
declare module 'messages:page/*';

/** Made by build.ts: the names of the formats that Lectern imports, in a list. */
declare module 'messages:import-formats' {
  export const importFormats: string;
}

/** Stylesheets become main.css. */
declare module '*.css';
