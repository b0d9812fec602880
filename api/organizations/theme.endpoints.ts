import { z } from 'zod';
import { replaceTheme, storeThemeFile } from '../../shared/assets/theme-files.ts';
import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import type { Database } from '../../shared/models/database.ts';
import { findTheme } from '../../shared/models/theme.ts';
import type { Config } from '../../shared/platform/config.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { Store } from '../../shared/storage/store.ts';
import { isHexColor } from '../../shared/theme/accent.ts';
import { extensionOf } from '../../shared/theme/theme.ts';
import { fontNames, maxRadius } from '../../shared/theme/theme-css.ts';
import type { Theme, ThemeFile, ThemeFileKind } from '../../shared/theme/theme.ts';
import { schemes } from '../../shared/theme/tokens.ts';
import { apiAccess } from '../accounts/access.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint, parseRequest } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { publicPath } from '../http/public-url.ts';
import { count, json } from '../http/responses.ts';

const fileBody = z
  .strictObject({
    url: z.string().meta({ description: 'A signed URL of the file, valid for an hour.' }),
    size: count,
    mimeType: z.string(),
  })
  .nullable();
const themeBody = z
  .strictObject({
    color: z.string().nullable(),
    scheme: z.enum([...schemes, 'auto']).nullable(),
    font: z.enum(fontNames).nullable(),
    fontFile: fileBody,
    radius: z.int().nullable(),
    logo: fileBody,
    logoAlt: z.string().nullable(),
  })
  .meta({ id: 'Theme', description: "Parts that are null are Lectern's own." });

const schemeNames = [...schemes, 'auto'] as const;
const radiusFault = `radius must be a whole number between 0 and ${maxRadius}, or null`;
const file = (name: string) =>
  z
    .base64(`${name} must be a file in Base64, or null`)
    .nullable()
    .optional()
    .meta({ description: 'The bytes of a file in Base64. `docs/theme.md` has types and sizes.' });
const changesSchema = z.strictObject(
  {
    color: z
      .string('color must be a color such as #125e8a, or null')
      .refine(isHexColor, 'color must be a color such as #125e8a, or null')
      .toLowerCase()
      .nullable()
      .optional(),
    scheme: z
      .enum(schemeNames, `scheme must be one of ${schemeNames.join(', ')}, or null`)
      .nullable()
      .optional(),
    font: z
      .enum(fontNames, `font must be one of ${fontNames.join(', ')}, or null`)
      .nullable()
      .optional()
      .meta({ description: 'Replaces `fontFile`.' }),
    fontFile: file('fontFile'),
    radius: z.int(radiusFault).min(0, radiusFault).max(maxRadius, radiusFault).nullable().optional(),
    logo: file('logo'),
    logoAlt: z
      .string('logoAlt must be a text, or null')
      .max(200, 'logoAlt must be at most 200 characters')
      .nullable()
      .optional()
      .meta({ description: "What screen readers read for the logo; by default the organization's name." }),
  },
  { error: objectFault },
);

const common = {
  path: '/api/organization/theme',
  access: apiAccess,
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Organization',
} as const;
const example: z.input<typeof themeBody> = {
  ...{ color: '#c2185b', scheme: null, font: 'humanist', fontFile: null, radius: 6 },
  ...{ logo: null, logoAlt: null },
};
const found = json('The theme.', themeBody, { one: { value: example } });

interface ThemeDependencies {
  db: Database;
  store: Store;
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'asset'>;
}

function presentTheme({ config, secrets }: ThemeDependencies, theme: Theme): z.input<typeof themeBody> {
  const present = (kind: ThemeFileKind, one: ThemeFile | undefined) => {
    if (one === undefined) return null;
    const { sha256, size, mimeType } = one;
    const asset = {
      area: 'assets',
      sha256,
      size,
      mimeType,
      fileName: `${kind}.${extensionOf(kind, one)}`,
    } as const;
    return { url: signAssetUrl(secrets.asset, asset, { base: publicPath(config) }).url, size, mimeType };
  };
  const { color = null, scheme = null, font = null, radius = null, logoAlt = null } = theme;
  return {
    ...{ color, scheme, font, radius, logoAlt },
    fontFile: present('fontFile', theme.fontFile),
    logo: present('logo', theme.logo),
  };
}

/** GET /api/organization/theme */
export const getTheme = defineEndpoint(
  {
    ...common,
    method: 'get',
    scope: 'read',
    operationId: 'getTheme',
    summary: "Read the look of the organization's lessons",
    responses: { 200: found },
  },
  (deps: ThemeDependencies) =>
    async ({ caller: { organization } }) => {
      const theme = await findTheme(deps.db, organization._id, organization._id);
      return { status: 200, body: presentTheme(deps, theme ?? {}) };
    },
);

/** PATCH /api/organization/theme */
export const changeThemeEndpoint = defineEndpoint(
  {
    ...common,
    method: 'patch',
    scope: 'organization',
    audit: 'theme.change',
    operationId: 'changeTheme',
    summary: "Change the look of the organization's lessons",
    description:
      'Changes the given parts; null removes one. It takes effect when a lesson is next opened or exported.',
    body: jsonBody({
      maxBytes: 2 * 1024 * 1024,
      description: 'Unknown fields are rejected.',
      schema: changesSchema,
      parse: (text) => parseRequest(changesSchema, JSON.parse(text), 'INVALID_CONTENT'),
      faults: ['logo is an SVG, which may contain scripts. Use PNG, JPEG or WebP.'],
      examples: { color: { value: { color: '#c2185b', font: 'humanist', logo: null } } },
    }),
    responses: { 200: found },
  },
  (deps: ThemeDependencies) =>
    async ({ ctx, caller: { organization }, readBody }) => {
      const { logo, fontFile, ...given } = await readBody();
      const { _id: organizationId, name } = organization;
      const store = (kind: ThemeFileKind, base64: string) =>
        storeThemeFile(deps.db, deps.store, { kind, name: kind, bytes: Buffer.from(base64, 'base64') });
      const before = await findTheme(deps.db, organizationId, organizationId);
      const parts: Record<string, unknown> = { ...before, ...given };
      if (given.font !== undefined) parts.fontFile = null;
      if (fontFile !== undefined) parts.fontFile = fontFile && (await store('fontFile', fontFile));
      if (parts.fontFile) parts.font = null;
      if (logo !== undefined) parts.logo = logo && (await store('logo', logo));
      if (logo) parts.logoAlt = given.logoAlt ?? name;
      if (logo === null) parts.logoAlt = null;
      const theme = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== null)) as Theme;
      const isEmpty = Object.keys(theme).length === 0;
      await replaceTheme(deps.db, { organizationId, id: organizationId }, before, isEmpty ? null : theme);
      auditedChange.set(ctx, { target: { type: 'organization', id: organizationId } });
      return { status: 200, body: presentTheme(deps, theme) };
    },
);
