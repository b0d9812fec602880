import { headerOrigin, isHttpUrl } from '../platform/parse-url.ts';

/*
 * The origins whose pages may frame an organization's lessons: in the browser's form, and valid in a
 * Content-Security-Policy.
 */

/** This many origins fit into the CSP header, with room to spare. */
export const maxEmbeddingOrigins = 100;

const loopbackName = /^(localhost|.+\.localhost|127(\.\d{1,3}){3})$/;

/**
 * Parses an origin such as `https://lms.example`. Case, a default port and a final slash do not matter.
 *
 * @returns the origin as browsers send it, or the fault as a sentence.
 */
export function readEmbeddingOrigin(text: string): { origin: string } | { fault: string } {
  const given = text.trim();
  if (given.includes('*')) {
    return { fault: 'It must be one origin, without *. Name no origin at all to allow any.' };
  }
  if (!isHttpUrl(given)) {
    return { fault: 'It must be an origin such as https://lms.example.' };
  }
  const { protocol, hostname, origin, pathname, search, hash, username, password } = new URL(given);
  if (username !== '' || password !== '') return { fault: 'It must not hold a name or a password.' };
  if (pathname !== '/' || search !== '' || hash !== '') {
    return { fault: `It must be an origin alone, without a path: ${origin}` };
  }
  if (hostname.startsWith('[')) {
    return { fault: 'Browsers allow no IPv6 address here. Give the host by its name.' };
  }
  if (headerOrigin(origin) === null) return { fault: `${hostname} is not the name of a host.` };
  if (protocol === 'http:' && !loopbackName.test(hostname)) {
    return {
      fault: 'It must begin with https://. Only loopback may be http, such as http://localhost:8080.',
    };
  }
  return { origin };
}
