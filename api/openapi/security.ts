import type { ZodOpenApiOperationObject, ZodOpenApiSecuritySchemeObject } from 'zod-openapi';

/** @param secure whether the service is reached by HTTPS: the cookie's name says so to browsers. */
export function securitySchemes(secure: boolean): Record<string, ZodOpenApiSecuritySchemeObject> {
  return {
    credentials: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'PUBLIC_KEY.SECRET_KEY',
      description:
        'API credentials: `Authorization: Bearer PUBLIC_KEY.SECRET_KEY`. They stand for an organization and reach ' +
        'nothing else. The operator makes them with `lectern key create`. They belong on a server, never in a page.',
    },
    token: {
      type: 'apiKey',
      in: 'query',
      name: 'token',
      description:
        'A short-lived JWT that lets one learner load one lesson, from `POST /api/public/sign-token` or from an LTI ' +
        'launch. It is made for pages and frames of learners. `lectern lesson preview` makes a preview token (header ' +
        '`typ` `lectern-preview+jwt`): it plays one version, which may be a draft, records nothing and expires in an ' +
        'hour.',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie(secure),
      description:
        'The session of a user, from `POST /api/session`. The cookie is HttpOnly and SameSite=Lax. Its signature is ' +
        `in a second one, \`${sessionCookie(secure)}.sig\`: send both.`,
    },
  };
}

function sessionCookie(secure: boolean): string {
  return secure ? '__Host-lectern' : 'lectern';
}

type Security = ZodOpenApiOperationObject['security'];

export const withCredentials: Security = [{ credentials: [] }];
export const withToken: Security = [{ token: [] }];
export const withOrWithoutToken: Security = [{ token: [] }, {}];
export const withSession: Security = [{ session: [] }];
export const withCredentialsOrSession: Security = [{ credentials: [] }, { session: [] }];
export const withOrWithoutSession: Security = [{ session: [] }, {}];
export const open: Security = [];
