import { randomText } from './model.ts';
import { lineItemUrlOf, lineItemsUrlOf, lineItemsOf } from './line-items.ts';
import type { Launch, Link, User } from './model.ts';
import type { Platform } from './platform.ts';
import { substituteVariables } from './variables.ts';
import { ltiVersion, messageTypes } from '../shared/lti/claims.ts';
import { claim } from './vocabulary.ts';

type Claims = Record<string, unknown>;

/** Returns the claims of a launch's message, without times. A deep linking request is pending from then on. */
export function messageOf(platform: Platform, launch: Launch, nonce: string): Claims {
  return {
    iss: platform.settings.issuer,
    aud: launch.tool.clientId,
    nonce,
    ...identityOf(launch.user),
    [claim.version]: ltiVersion,
    [claim.deploymentId]: launch.deploymentId,
    [claim.targetLinkUri]: launch.targetLinkUri,
    [claim.roles]: launch.user.roles,
    [claim.context]: contextOf(launch),
    [claim.custom]: customOf(platform, launch),
    [claim.launchPresentation]: {
      document_target: launch.target,
      return_url: platform.urls.launchReturn,
      locale: launch.locale,
    },
    [claim.toolPlatform]: {
      guid: platform.guid,
      name: 'Lectern LTI simulator',
      url: platform.urls.url,
      product_family_code: 'lectern-simulator',
      version: '1',
    },
    ...gradeEndpoint(platform, launch),
    ...(launch.link === null
      ? { [claim.messageType]: messageTypes.deepLinking, ...deepLinkingSettings(platform, launch) }
      : { [claim.messageType]: messageTypes.resourceLink, ...resourceLink(launch.link) }),
  };
}

function identityOf({ anonymous, id, name, givenName, familyName, email }: User): Claims {
  if (anonymous) return {};
  return {
    sub: id,
    name,
    given_name: givenName,
    family_name: familyName,
    email,
    [claim.lis]: { person_sourcedid: `sis-${id.slice(0, 8)}` },
  };
}

function contextOf({ course: { id, label, title } }: Launch): Claims {
  return { id, label, title, type: ['http://purl.imsglobal.org/vocab/lis/v2/course#CourseOffering'] };
}

function customOf(platform: Platform, { tool, link, user, course }: Launch): Claims {
  const { guid } = platform;
  return substituteVariables({ ...tool.custom, ...link?.custom }, { user, course, link, guid });
}

function resourceLink({ id, title }: Link): Claims {
  return { [claim.resourceLink]: { id, title } };
}

/** Names the line item if the link has exactly one, as the standard requires. */
function gradeEndpoint(platform: Platform, { tool, course, link }: Launch): Claims {
  if (tool.scopes.length === 0) return {};
  const items = link === null ? [] : lineItemsOf(platform, link);
  const [only] = items;
  return {
    [claim.gradeService]: {
      scope: tool.scopes,
      lineitems: lineItemsUrlOf(platform, course.id, tool.clientId),
      ...(items.length === 1 && only !== undefined && { lineitem: lineItemUrlOf(platform, only) }),
    },
  };
}

function deepLinkingSettings({ urls, deepLinks }: Platform, launch: Launch): Claims {
  const data = randomText();
  deepLinks.set(data, launch);
  return {
    [claim.deepLinkingSettings]: {
      deep_link_return_url: urls.deepLinkingReturn,
      accept_types: ['ltiResourceLink'],
      accept_presentation_document_targets: ['iframe', 'window'],
      accept_multiple: true,
      accept_lineitem: true,
      auto_create: false,
      data,
      ...launch.deepLinkingSettings,
    },
  };
}
