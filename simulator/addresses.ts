/** Every address of the platform, made from the one it listens on. */
export interface Addresses {
  home: string;
  configuration: string;
  registration: string;
  authorization: string;
  token: string;
  jwks: string;
  deepLinkingReturn: string;
  /** Where a tool sends its user back to. */
  launchReturn: string;
  /** The platform itself, as `tool_platform` names it. */
  url: string;
}

/** @param url such as http://127.0.0.1:4000, without a slash at the end. */
export function addressesAt(url: string): Addresses {
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

/** Of a course's line items. @param query such as "?type_id=1", or nothing. */
export function lineItemsAddress(url: string, courseId: string, query: string): string {
  return `${url}/services/${encodeURIComponent(courseId)}/lineitems${query}`;
}

/** Of one line item. @param query such as "?type_id=1", or nothing. */
export function lineItemAddress(url: string, courseId: string, id: string, query: string): string {
  return `${url}/services/${encodeURIComponent(courseId)}/lineitems/${id}/lineitem${query}`;
}

/** An address whose path goes on, before its query. */
export function withPathSuffix(address: string, suffix: string): string {
  const url = new URL(address);
  url.pathname += suffix;
  return url.href;
}
