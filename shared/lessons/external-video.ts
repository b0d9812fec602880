/** A video that only the player of another host shows. */
export interface ExternalVideo {
  host: 'YouTube' | 'Vimeo';
  /** The URL of its player, which begins at once, with the host's option for fewer cookies. */
  frame: string;
}

/** The origins of {@link ExternalVideo.frame}. */
export const externalVideoOrigins = ['https://www.youtube-nocookie.com', 'https://player.vimeo.com'] as const;

const youtubePage = /^https:\/\/www\.youtube\.com\/watch\?v=([\w-]{11})(?:&t=(\d{1,6})s)?$/;
const vimeoPage = /^https:\/\/vimeo\.com\/(\d{1,15})(?:\/(\w{1,40}))?(?:#t=(\d{1,6})s)?$/;

/** Reads the URL of a video's page, in the form in which an import writes it; undefined for any other text. */
export function externalVideo(page: string): ExternalVideo | undefined {
  const youtube = youtubePage.exec(page);
  const vimeo = vimeoPage.exec(page);
  const [youtubeOrigin, vimeoOrigin] = externalVideoOrigins;
  if (youtube) {
    const [, id = '', start] = youtube;
    const frame = `${youtubeOrigin}/embed/${id}?autoplay=1&playsinline=1&rel=0${start ? `&start=${start}` : ''}`;
    return { host: 'YouTube', frame };
  }
  if (!vimeo) return undefined;
  const [, id = '', key, start] = vimeo;
  const frame = `${vimeoOrigin}/video/${id}?autoplay=1&dnt=1${key ? `&h=${key}` : ''}${start ? `#t=${start}s` : ''}`;
  return { host: 'Vimeo', frame };
}
