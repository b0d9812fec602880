import type { CreatedLtiRegistration, Routes } from '../../api-types.ts';

export type PlatformValues = Routes['POST /api/platforms']['body'];

/** What a platform asks for: a value of Lectern to copy, or a choice in its own words. */
export type Entry = readonly [label: string, value: keyof typeof copied | { choose: string }];

/** What Lectern asks for, with the platform's name for it. */
export type Answer = readonly [label: string, field: Exclude<keyof PlatformValues, 'name' | 'keySetId'>];

export const copied = {
  link: ({ url }: CreatedLtiRegistration) => url,
  login: ({ loginUrl }: CreatedLtiRegistration) => loginUrl,
  launch: ({ launchUrl }: CreatedLtiRegistration) => launchUrl,
  keys: ({ keySetUrl }: CreatedLtiRegistration) => keySetUrl,
  host: ({ launchUrl }: CreatedLtiRegistration) => new URL(launchUrl).host,
  origin: ({ launchUrl }: CreatedLtiRegistration) => new URL(launchUrl).origin,
};

/** How to connect a product. Labels are those of its pages in English, in the order in which it shows them. */
export interface Product {
  name: string;
  /** With a registration link; missing for products without dynamic registration. */
  dynamic?: { menu: string; entries: readonly Entry[]; finish: readonly string[] };
  manual: { menu: string; entries: readonly Entry[]; where: string; answers: readonly Answer[] };
  /** What is the same in all installations of the product. */
  known?: Partial<PlatformValues>;
}

const choose = (text: string) => ({ choose: text });

export const products = {
  moodle: {
    name: 'Moodle',
    dynamic: {
      menu: 'Site administration → Plugins → Activity modules → External tool → Manage tools',
      entries: [['Tool URL', 'link']],
      finish: ['Add LTI Advantage', 'Activate'],
    },
    manual: {
      menu: 'Site administration → Plugins → Activity modules → External tool → Manage tools → Configure a tool manually',
      entries: [
        ['Tool URL', 'launch'],
        ['LTI version', choose('LTI 1.3')],
        ['Public key type', choose('Keyset URL')],
        ['Public keyset', 'keys'],
        ['Initiate login URL', 'login'],
        ['Redirection URI(s)', 'launch'],
        ['Tool configuration usage', choose('Show in activity chooser and as a preconfigured tool')],
        ['Default launch container', choose('Embed, without blocks')],
        ['Supports Deep Linking (Content-Item Message)', choose('✓')],
        ['Content selection URL', 'launch'],
        [
          'Services → IMS LTI Assignment and Grade Services',
          choose('Use this service for grade sync and column management'),
        ],
        ['Privacy → Accept grades from the tool', choose('Always')],
      ],
      where: 'View configuration details',
      answers: [
        ['Platform ID', 'issuer'],
        ['Client ID', 'clientId'],
        ['Deployment ID', 'deploymentIds'],
        ['Authentication request URL', 'authUrl'],
        ['Access token URL', 'tokenUrl'],
        ['Public keyset URL', 'jwksUrl'],
      ],
    },
  },
  canvas: {
    name: 'Canvas',
    dynamic: {
      menu: 'Admin → Apps → LTI registration → Dynamic registration',
      entries: [['Registration URL', 'link']],
      finish: ['Enable', 'Install'],
    },
    manual: {
      menu: 'Admin → Developer Keys → + Developer Key → + LTI Key',
      entries: [
        ['Redirect URIs', 'launch'],
        ['Method', choose('Manual entry')],
        ['Target link URI', 'launch'],
        ['OpenID Connect initiation URL', 'login'],
        ['JWK method', choose('Public JWK URL')],
        ['Public JWK URL', 'keys'],
        ['LTI Advantage services', choose('Can create and view assignment data in the gradebook')],
        ['LTI Advantage services', choose('Can create and update submission results')],
        ['Placements', choose('Assignment Selection, Link Selection')],
        ['Placements → Message type', choose('LtiDeepLinkingRequest')],
        ['Placements → Target link URI', 'launch'],
        ['State', choose('On')],
      ],
      where: 'Developer Keys → Details; Settings → Apps → + App → By Client ID → Deployment Id',
      answers: [
        ['Client ID', 'clientId'],
        ['Deployment Id', 'deploymentIds'],
        ['Issuer', 'issuer'],
        ['Authorization redirect', 'authUrl'],
        ['Access token', 'tokenUrl'],
        ['JWKs', 'jwksUrl'],
      ],
    },
    known: {
      issuer: 'https://canvas.instructure.com',
      authUrl: 'https://sso.canvaslms.com/api/lti/authorize_redirect',
      tokenUrl: 'https://sso.canvaslms.com/login/oauth2/token',
      jwksUrl: 'https://sso.canvaslms.com/api/lti/security/jwks',
    },
  },
  blackboard: {
    name: 'Blackboard',
    manual: {
      menu: 'developer.anthology.com → My Apps → Register',
      entries: [
        ['My integration supports LTI 1.3', choose('✓')],
        ['Domain(s)', 'host'],
        ['Login Initiation URL', 'login'],
        ['Tool Redirect URL(s)', 'launch'],
        ['Tool JWKS URL', 'keys'],
        ['Signing Algorithm', choose('RS256')],
        [
          'Administrator Panel → Integrations → LTI Tool Providers',
          choose('Register LTI 1.3/Advantage Tool'),
        ],
        ['Tool Status', choose('Approved')],
        ['User Fields to Send', choose('Role in Course')],
        ['Allow grade service access', choose('Yes')],
        ['Manage Placements → Create Placement', choose('Deep Linking content tool')],
        ['Target Link URI', 'launch'],
      ],
      where: 'developer.anthology.com; LTI Tool Providers → Deployment ID',
      answers: [
        ['Application ID', 'clientId'],
        ['Issuer', 'issuer'],
        ['Public keyset URL', 'jwksUrl'],
        ['Auth token endpoint', 'tokenUrl'],
        ['OIDC auth request endpoint', 'authUrl'],
        ['Deployment ID', 'deploymentIds'],
      ],
    },
    known: { issuer: 'https://blackboard.com' },
  },
  brightspace: {
    name: 'Brightspace',
    dynamic: {
      menu: 'Admin Tools → Manage Extensibility → LTI Advantage → Register Tool → Dynamic',
      entries: [['Tool initiation registration endpoint', 'link']],
      finish: ['Enable', 'View Deployments → New Deployment'],
    },
    manual: {
      menu: 'Admin Tools → Manage Extensibility → LTI Advantage → Register Tool → Standard',
      entries: [
        ['Domain', 'origin'],
        ['Redirect URLs', 'launch'],
        ['OpenID Connect Login URL', 'login'],
        ['Target Link URI', 'launch'],
        ['Keyset URL', 'keys'],
        ['Extensions', choose('Assignment and Grade Services, Deep Linking')],
        [
          'View Deployments → New Deployment → Extensions',
          choose('Assignment and Grade Services, Deep Linking'),
        ],
        ['Security Settings', choose('Org Unit Information, User Information, Link Information')],
        ['Configuration Settings', choose('Auto create grade items')],
        ['View Links → New Link → Type', choose('Deep Linking Quicklink')],
        ['URL', 'launch'],
      ],
      where: 'View Registration Details; View Deployments → Deployment ID',
      answers: [
        ['Client ID', 'clientId'],
        ['Brightspace Keyset URL', 'jwksUrl'],
        ['Brightspace OAuth2 Access Token URL', 'tokenUrl'],
        ['OpenID Connect Authentication Endpoint', 'authUrl'],
        ['Brightspace OAuth2 Audience', 'tokenAudience'],
        ['Issuer', 'issuer'],
        ['Deployment ID', 'deploymentIds'],
      ],
    },
  },
} as const satisfies Record<string, Product>;

export type ProductId = keyof typeof products;
export const productIds = Object.keys(products) as ProductId[];

/** Returns the values of a platform from what was entered. Deployments are separated by commas or spaces. */
export function valuesOf(entered: Partial<Record<Answer[1], string>>, keySetId: string): PlatformValues {
  const { issuer = '', clientId = '', authUrl = '', tokenUrl = '', jwksUrl = '' } = entered;
  const { deploymentIds = '', tokenAudience = '' } = entered;
  return {
    ...{ issuer, clientId, authUrl, tokenUrl, jwksUrl, keySetId },
    deploymentIds: deploymentIds.split(/[\s,]+/).filter((id) => id !== ''),
    ...(tokenAudience !== '' && { tokenAudience }),
  };
}
