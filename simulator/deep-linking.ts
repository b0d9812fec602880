import { decodeJwt } from 'jose';
import { z } from 'zod';
import { addLink } from './courses.ts';
import type { Launch, Link } from './model.ts';
import type { Platform } from './platform.ts';
import { Rejection } from './http.ts';
import { verifyToolJwt } from './tool-jwt.ts';
import { ltiVersion, messageTypes } from '../shared/lti/claims.ts';
import { claim } from './vocabulary.ts';

const time = z.iso.datetime({ offset: true });
const window = z.object({ startDateTime: time.optional(), endDateTime: time.optional() });

const contentItem = z.looseObject({
  type: z.literal('ltiResourceLink', 'is a type that the platform does not accept'),
  title: z.string().optional(),
  text: z.string().optional(),
  url: z.url({ protocol: /^https?$/ }).optional(),
  custom: z.record(z.string(), z.string()).optional(),
  lineItem: z
    .looseObject({
      scoreMaximum: z.number().positive(),
      label: z.string().min(1).optional(),
      resourceId: z.string().optional(),
      tag: z.string().optional(),
    })
    .optional(),
  available: window.optional(),
  submission: window.optional(),
});

type ContentItem = z.infer<typeof contentItem>;

const responseSchema = z.looseObject({
  [claim.messageType]: z.literal(messageTypes.deepLinkingResponse),
  [claim.version]: z.literal(ltiVersion),
  [claim.deploymentId]: z.string(),
  // Absent if the user chose nothing.
  [claim.contentItems]: z.array(contentItem).default([]),
  [claim.deepLinkingData]: z.string().optional(),
  [claim.message]: z.string().optional(),
  [claim.errorMessage]: z.string().optional(),
});

export interface DeepLinkingOutcome {
  links: Link[];
  /** The tool's message to the user; null for none. */
  message: string | null;
  errorMessage: string | null;
}

/**
 * Adds the links of a tool's deep linking response to the course of the request, with the line items that they
 * declare. Each request accepts one response.
 *
 * @throws {Rejection} and stores nothing
 */
export async function acceptDeepLinking(platform: Platform, jwt: string): Promise<DeepLinkingOutcome> {
  const tool = platform.tools.get(issuerOf(jwt));
  if (tool === undefined) throw rejected('iss is not the client id of a tool.');
  const payload = await verifyToolJwt(platform, tool, jwt, {
    audience: platform.settings.issuer,
    once: 'nonce',
    code: 'invalid_request',
    status: 400,
  });
  const parsed = responseSchema.safeParse(payload);
  if (!parsed.success) throw rejected(z.prettifyError(parsed.error));
  const response = parsed.data;
  const launch = launchOf(platform, response[claim.deepLinkingData]);
  if (launch.tool.clientId !== tool.clientId) throw rejected('data belongs to a request to another tool.');
  if (response[claim.deploymentId] !== launch.deploymentId)
    throw rejected("deployment_id must equal the request's.");
  const items = response[claim.contentItems];
  if (items.length > 1 && launch.deepLinkingSettings.accept_multiple === false) {
    throw rejected('The request accepts one content item.');
  }
  platform.deepLinks.delete(response[claim.deepLinkingData] ?? '');
  return {
    links: items.map((item) => store(platform, launch, item)),
    message: response[claim.message] ?? null,
    errorMessage: response[claim.errorMessage] ?? null,
  };
}

function issuerOf(jwt: string): string {
  try {
    return decodeJwt(jwt).iss ?? '';
  } catch {
    throw rejected('The field JWT must be a JWT.');
  }
}

function launchOf({ deepLinks }: Platform, data: string | undefined): Launch {
  const launch = deepLinks.get(data ?? '');
  if (launch === undefined) throw rejected('data must be that of a pending request.');
  return launch;
}

function store(platform: Platform, launch: Launch, item: ContentItem): Link {
  const { tool, course, deploymentId, deepLinkingSettings } = launch;
  const { title = tool.name, url = tool.targetLinkUri, custom = {} } = item;
  const link = {
    courseId: course.id,
    clientId: tool.clientId,
    deploymentId,
    title,
    url,
    custom,
    history: [],
  };
  // By the standard, a platform without line items ignores them.
  const lineItem = deepLinkingSettings.accept_lineitem === false ? undefined : item.lineItem;
  if (lineItem === undefined) return addLink(platform, link, null);
  const { label = title, scoreMaximum, resourceId, tag } = lineItem;
  return addLink(platform, link, { label, scoreMaximum, resourceId, tag, ...item.submission });
}

function rejected(message: string): Rejection {
  return new Rejection(400, 'invalid_request', message);
}
