import { parseUrl } from '../platform/parse-url.ts';

/**
 * Returns the URL of a video's page in the form that players read (`externalVideo`), from any form in which YouTube and
 * Vimeo give it to users; null for all other URLs, also those of lists and channels. The scheme may be missing.
 */
export function videoPage(written: string): string | null {
  const isBare = /^(?:[\w-]+\.)?(?:youtube|youtube-nocookie|youtu|vimeo)\.(?:com|be)\//i.test(written);
  const url = parseUrl(isBare ? `https://${written}` : written, 'https://page.invalid');
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  const path = url.pathname.split('/').filter((part) => part !== '');
  switch (url.hostname.replace(/^(?:www|m|music)\./, '')) {
    case 'youtu.be':
      return youtubePage(url, path[0]);
    case 'youtube.com':
    case 'youtube-nocookie.com':
      if (path[0] === 'watch') return youtubePage(url, url.searchParams.get('v') ?? path[1]);
      return /^(?:embed|shorts|live|v|e)$/.test(path[0] ?? '') ? youtubePage(url, path[1]) : null;
    case 'vimeo.com':
    case 'player.vimeo.com':
      return vimeoPage(url, path);
    default:
      return null;
  }
}

function youtubePage(url: URL, id = ''): string | null {
  if (!/^[\w-]{11}$/.test(id) || id === 'videoseries') return null;
  const start = secondsIn(url.searchParams.get('t') ?? url.searchParams.get('start') ?? timeIn(url.hash));
  return `https://www.youtube.com/watch?v=${id}${start > 0 ? `&t=${start}s` : ''}`;
}

/** Also reads the pages of videos in channels, groups, albums and showcases. */
function vimeoPage(url: URL, path: readonly string[]): string | null {
  const [, id, written] =
    /^(?:(?:manage\/)?videos?\/|channels\/[^/]+\/|(?:groups|album|showcase)\/[^/]+\/videos?\/)?(\d{1,15})(?:\/(\w{1,40}))?$/.exec(
      path.join('/'),
    ) ?? [];
  if (id === undefined) return null;
  const key = written ?? url.searchParams.get('h') ?? '';
  const start = secondsIn(url.searchParams.get('t') ?? timeIn(url.hash));
  return `https://vimeo.com/${id}${/^\w{1,40}$/.test(key) ? `/${key}` : ''}${start > 0 ? `#t=${start}s` : ''}`;
}

function timeIn(hash: string): string {
  return new URLSearchParams(hash.slice(1)).get('t') ?? '';
}

/** Reads `90`, `90s`, `1m30s` or `1h2m3s`; 0 for any other text. */
function secondsIn(time: string): number {
  const [, hours = 0, minutes = 0, rest = 0] =
    /^(?:(\d{1,2})h)?(?:(\d{1,4})m)?(?:(\d{1,6})(?:\.\d+)?s?)?$/.exec(time) ?? [];
  return Math.min(Number(hours) * 3600 + Number(minutes) * 60 + Number(rest), 999_999);
}

/** Hosts whose pages people take for files, with the paths of those pages. */
const pages: readonly [host: RegExp, path: RegExp][] = [
  [/^(?:(?:www|m|music)\.)?(?:youtube|youtube-nocookie)\.com$|^youtu\.be$/, /^/],
  [/^(?:(?:www|player)\.)?vimeo\.com$/, /^\/(?!external\/|progressive_redirect\/)/],
  [/^(?:drive|docs)\.google\.com$/, /^\/(?!uc\b|thumbnail\b)/],
  [/^photos\.(?:google\.com|app\.goo\.gl)$/, /^/],
  [/^/, /^\/Panopto\/Pages\//i],
  [/^(?:www\.)?(?:dailymotion|tiktok|twitch|facebook|instagram|x|twitter)\.(?:com|tv)$/, /^/],
  [/^(?:dai\.ly|fb\.watch|open\.spotify\.com|(?:(?:www|m|on)\.)?soundcloud\.com)$/, /^/],
  [/^(?:www\.)?loom\.com$/, /^\/(?:share|embed)\//],
  [/^(?:www\.|embed\.)?ted\.com$/, /^\/talks\//],
  [/\.wistia\.(?:com|net)$/, /^\/(?:medias|embed\/iframe)\//],
  [/(?:^|\.)kaltura\.com$/, /\/(?:media|iframe|embedIframe\w*)\//i],
  [
    /\.sharepoint\.com$|^(?:onedrive\.live\.com|1drv\.ms|.*\.microsoftstream\.com)$/,
    /^(?!.*\.(?!aspx)\w{2,5}$)/,
  ],
  [/^(?:www\.)?dropbox\.com$/, /^\/(?:s|scl)\//],
  [/(?:^|\.)(?:wikipedia|wikimedia)\.org$/, /^\/wiki\/(?!Special:(?:FilePath|Redirect)\/)/i],
  [/^(?:www\.)?(?:flickr|unsplash|pexels|pixabay)\.com$/, /^\/(?:\w\w\/)?(?:photos?|videos?)\//],
  [/^(?:www\.)?(?:imgur|giphy|gettyimages|shutterstock)\.\w+$/, /^\/(?!.*\.\w{3,4}$)/],
];

/** Returns whether a URL certainly leads to a page, and not to a file that a picture or a video could load. */
export function isPageUrl({ hostname, pathname, search }: URL): boolean {
  // Dropbox sends the file itself if asked to.
  if (/[?&](?:dl=1|raw=1|download=1)\b/.test(search)) return false;
  if (
    /\.x?html?$/i.test(pathname) ||
    /^\/wiki\/(?:File|Image|Datei|Fichier|Archivo|Ficheiro):/i.test(pathname)
  )
    return true;
  return pages.some(([host, path]) => host.test(hostname) && path.test(pathname));
}
