import type { Html } from '../../shared/platform/html.ts';
import { markup } from '../../shared/platform/html.ts';
import { z } from 'zod';
import type { LineItemDetails, Link, Tool } from '../model.ts';
import type { Platform } from '../platform.ts';
import { Rejection } from '../http.ts';
import type { ToolDetails } from '../tools.ts';
import { allScopes } from '../vocabulary.ts';

const httpUrl = z.url({ protocol: /^https?$/ });
const optionalUrl = z
  .literal('')
  .transform(() => null)
  .or(httpUrl);

/** Parses lines of `name=value`. */
const parameters = z
  .string()
  .default('')
  .transform((text) => Object.fromEntries(linesOf(text).map(splitLine)));

const toolForm = z.object({
  name: z.string().trim().min(1),
  loginUrl: httpUrl,
  redirectUris: z.string().transform(linesOf).pipe(z.array(httpUrl).min(1)),
  jwksUrl: httpUrl,
  targetLinkUri: httpUrl,
  deepLinkUrl: optionalUrl.default(null),
  custom: parameters,
});

const linkForm = z.object({
  title: z.string().trim().min(1),
  url: optionalUrl.default(null),
  points: z
    .literal('')
    .transform(() => null)
    .or(z.coerce.number().positive())
    .default(null),
  custom: parameters,
});

/** @throws {Rejection} */
export function readToolForm(form: URLSearchParams): ToolDetails {
  const scopes = form.getAll('scope').filter((scope) => allScopes.includes(scope));
  return { ...parse(toolForm, form), scopes };
}

/** @throws {Rejection} */
export function readLinkForm(
  { tools }: Platform,
  courseId: string,
  form: URLSearchParams,
): { link: Omit<Link, 'id'>; lineItem: LineItemDetails | null } {
  const tool = tools.get(form.get('tool') ?? '');
  if (tool === undefined) throw new Rejection(404, 'not_found', 'There is no such tool.');
  const { title, url, points, custom } = parse(linkForm, form);
  const link = { ...ownerOf(tool, courseId), title, url: url ?? tool.targetLinkUri, custom, history: [] };
  return { link, lineItem: points === null ? null : { label: title, scoreMaximum: points } };
}

function ownerOf({ clientId, deploymentIds: [deploymentId = ''] }: Tool, courseId: string) {
  return { clientId, deploymentId, courseId };
}

function parse<T>(schema: z.ZodType<T>, form: URLSearchParams): T {
  const parsed = schema.safeParse(Object.fromEntries(form));
  if (!parsed.success) throw new Rejection(400, 'invalid_request', z.prettifyError(parsed.error));
  return parsed.data;
}

function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function splitLine(line: string): [string, string] {
  const [name = '', ...rest] = line.split('=');
  return [name.trim(), rest.join('=').trim()];
}

export function hiddenFields(fields: Readonly<Record<string, string>>): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">\n`,
  );
}
