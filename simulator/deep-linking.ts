import { decodeJwt } from 'jose';
import { z } from 'zod';
import { addLink } from './courses.ts';
import type { Launch, Link } from './model.ts';
import type { Platform } from './platform.ts';
import { Refusal } from './http.ts';
import { verifyToolJwt } from './tool-jwt.ts';
import { claim, messageTypes } from './vocabulary.ts';

const time = z.iso.datetime({ offset: true });
const window = z.object({ startDateTime: time.optional(), endDateTime: time.optional() });

const contentItem = z.looseObject({
  type: z.literal('ltiResourceLink', 'is a type that the platform did not ask for'),
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
  [claim.version]: z.literal('1.3.0'),
  [claim.deploymentId]: z.string(),
  // Nothing chosen is an answer as well.
  [claim.contentItems]: z.array(contentItem).default([]),
  [claim.data]: z.string().optional(),
  [claim.message]: z.string().optional(),
  [claim.errorMessage]: z.string().optional(),
});

export interface DeepLinkingOutcome {
  links: Link[];
  /** What the tool has to say to its user; null for nothing. */
  message: string | null;
  errorMessage: string | null;
}

/**
 * Takes a tool's deep linking response, and puts its links into the course they were asked for, with the line items
 * they declare. A request is answered once.
 *
 * @throws {Refusal} that says what is wrong with it; nothing is stored then
 */
export async function acceptDeepLinking(platform: Platform, jwt: string): Promise<DeepLinkingOutcome> {
  const tool = platform.tools.get(issuerOf(jwt));
  if (tool === undefined) throw refused('iss is not the client id of a tool.');
  const payload = await verifyToolJwt(platform, tool, jwt, {
    audience: platform.settings.issuer,
    once: 'nonce',
    code: 'invalid_request',
    status: 400,
  });
  const parsed = responseSchema.safeParse(payload);
  if (!parsed.success) throw refused(z.prettifyError(parsed.error));
  const response = parsed.data;
  const launch = launchOf(platform, response[claim.data]);
  if (launch.tool.clientId !== tool.clientId) throw refused('data is of a request to another tool.');
  if (response[claim.deploymentId] !== launch.deploymentId)
    throw refused('deployment_id is not that of the request.');
  const items = response[claim.contentItems];
  if (items.length > 1 && launch.deepLinkingSettings.accept_multiple === false) {
    throw refused('The request takes one content item.');
  }
  platform.deepLinks.delete(response[claim.data] ?? '');
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
    throw refused('The field JWT has to be a JWT.');
  }
}

function launchOf({ deepLinks }: Platform, data: string | undefined): Launch {
  const launch = deepLinks.get(data ?? '');
  if (launch === undefined) throw refused('data is not that of a request that waits for its response.');
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
  // The standard has a platform that takes none ignore them, not refuse them.
  const lineItem = deepLinkingSettings.accept_lineitem === false ? undefined : item.lineItem;
  if (lineItem === undefined) return addLink(platform, link, null);
  const { label = title, scoreMaximum, resourceId, tag } = lineItem;
  return addLink(platform, link, { label, scoreMaximum, resourceId, tag, ...item.submission });
}

function refused(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
