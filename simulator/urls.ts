export interface PlatformUrls {
  home: string;
  configuration: string;
  registration: string;
  authorization: string;
  token: string;
  jwks: string;
  deepLinkingReturn: string;
  /** The page to which tools return their users. */
  launchReturn: string;
  /** The platform's base URL, as in `tool_platform`. */
  url: string;
}

/** @param url such as http://127.0.0.1:4000, without a trailing slash. */
export function urlsAt(url: string): PlatformUrls {
  return {
    url,
    home: `${url}/`,
    configuration: `${url}/.well-known/openid-configuration`,
    registration: `${url}/registration`,
    authorization: `${url}/authorize`,
    token: `${url}/token`,
    jwks: `${url}/jwks`,
    deepLinkingReturn: `${url}/deep-linking/return`,
    launchReturn: `${url}/return`,
  };
}

/** @param query such as "?type_id=1". */
export function lineItemsUrl(url: string, courseId: string, query: string): string {
  return `${url}/services/${encodeURIComponent(courseId)}/lineitems${query}`;
}

/** @param query such as "?type_id=1". */
export function lineItemUrl(url: string, courseId: string, id: string, query: string): string {
  return `${url}/services/${encodeURIComponent(courseId)}/lineitems/${id}/lineitem${query}`;
}

/** Appends to the path of a URL that may have a query. */
export function withPathSuffix(url: string, suffix: string): string {
  const extended = new URL(url);
  extended.pathname += suffix;
  return extended.href;
}
