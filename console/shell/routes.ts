import type { ComponentType } from 'preact';
import { computed } from '@preact/signals';
import type { IconName } from '../kit/icon.tsx';
import type { PageProps } from './page.tsx';
import { matchPath, path } from './router.tsx';
import { can, session } from './session.ts';
import type { Permission } from './session.ts';
import type { TextKey } from './text.ts';

interface PageModule {
  default: ComponentType<{ params: PageProps }>;
}

interface Page {
  path: string;
  /** What its user must be allowed to do. */
  permission: Permission | null;
  load: () => Promise<PageModule>;
}

/** The page of the user's own account, which every user may open. */
export const accountPath = '/account';

/** The pages. Each is a chunk of its own. */
const pages: Page[] = [
  { path: '/lessons', permission: 'read', load: () => import('../pages/lessons/view.tsx') },
  { path: '/lessons/:lessonId', permission: 'read', load: () => import('../pages/lesson/view.tsx') },
  { path: '/lessons/:lessonId/edit', permission: 'content', load: () => import('../editor/page.tsx') },
  {
    path: '/lessons/:lessonId/changes',
    permission: 'read',
    load: () => import('../pages/lesson-changes/view.tsx'),
  },
  {
    path: '/lessons/:lessonId/report/:versionId',
    permission: 'read',
    load: () => import('../pages/lesson-report/view.tsx'),
  },
  {
    path: '/lessons/:lessonId/exports',
    permission: 'read',
    load: () => import('../pages/lesson-exports/view.tsx'),
  },
  {
    path: '/lessons/:lessonId/embed',
    permission: 'read',
    load: () => import('../pages/lesson-embed/view.tsx'),
  },
  {
    path: '/lessons/:lessonId/learners',
    permission: 'learners',
    load: () => import('../pages/lesson-learners/view.tsx'),
  },
  {
    path: '/lessons/:lessonId/learners/:learnerId',
    permission: 'learners',
    load: () => import('../pages/lesson-learner/view.tsx'),
  },
  {
    path: '/lessons/:lessonId/statistics',
    permission: 'read',
    load: () => import('../pages/lesson-statistics/view.tsx'),
  },
  { path: '/exports', permission: 'read', load: () => import('../pages/exports/view.tsx') },
  { path: '/webhooks', permission: 'deliveries', load: () => import('../pages/webhooks/view.tsx') },
  { path: '/webhooks/:webhookId', permission: 'deliveries', load: () => import('../pages/webhook/view.tsx') },
  { path: '/destinations', permission: 'deliveries', load: () => import('../pages/destinations/view.tsx') },
  {
    path: '/destinations/:destinationId',
    permission: 'deliveries',
    load: () => import('../pages/destination/view.tsx'),
  },
  { path: '/deliveries', permission: 'deliveries', load: () => import('../pages/deliveries/view.tsx') },
  { path: '/theme', permission: 'organization', load: () => import('../pages/theme/view.tsx') },
  { path: '/retention', permission: 'retention', load: () => import('../pages/retention/view.tsx') },
  { path: '/audit', permission: 'audit', load: () => import('../pages/audit/view.tsx') },
  { path: '/users', permission: 'accounts', load: () => import('../pages/users/view.tsx') },
  { path: '/platforms', permission: 'platforms', load: () => import('../pages/platforms/view.tsx') },
  {
    path: '/platforms/connect',
    permission: 'platforms',
    load: () => import('../pages/platform-connect/view.tsx'),
  },
  {
    path: '/platforms/:platformId',
    permission: 'platforms',
    load: () => import('../pages/platform/view.tsx'),
  },
  { path: '/keys', permission: 'accounts', load: () => import('../pages/keys/view.tsx') },
  { path: '/settings', permission: 'organization', load: () => import('../pages/organization/view.tsx') },
  {
    path: '/organizations',
    permission: 'operator',
    load: () => import('../pages/operator-organizations/view.tsx'),
  },
  {
    path: '/operators',
    permission: 'operator',
    load: () => import('../pages/operator-users/view.tsx'),
  },
  {
    path: '/all-exports',
    permission: 'operator',
    load: () => import('../pages/operator-exports/view.tsx'),
  },
  { path: '/health', permission: 'operator', load: () => import('../pages/operator-health/view.tsx') },
  { path: accountPath, permission: null, load: () => import('../pages/account/view.tsx') },
  { path: '/kit', permission: null, load: () => import('../pages/kit/view.tsx') },
];

/** A group of the navigation. */
interface NavigationGroup {
  label: TextKey | null;
  items: { label: TextKey; to: string; icon: IconName; permission: Permission }[];
}

const groups: NavigationGroup[] = [
  {
    label: null,
    items: [
      { label: 'organizations.title', to: '/organizations', icon: 'globe', permission: 'operator' },
      { label: 'operators.title', to: '/operators', icon: 'person', permission: 'operator' },
      { label: 'exports.recent', to: '/all-exports', icon: 'archive', permission: 'operator' },
      { label: 'health.title', to: '/health', icon: 'chart', permission: 'operator' },
    ],
  },
  {
    label: null,
    items: [
      { label: 'lessons.title', to: '/lessons', icon: 'book', permission: 'read' },
      { label: 'exports.recent', to: '/exports', icon: 'archive', permission: 'read' },
    ],
  },
  {
    label: 'nav.integrations',
    items: [
      { label: 'keys.title', to: '/keys', icon: 'key', permission: 'accounts' },
      { label: 'platforms.title', to: '/platforms', icon: 'plug', permission: 'platforms' },
      { label: 'webhooks.title', to: '/webhooks', icon: 'send', permission: 'deliveries' },
      { label: 'destinations.title', to: '/destinations', icon: 'chart', permission: 'deliveries' },
      { label: 'delivery.title', to: '/deliveries', icon: 'forward', permission: 'deliveries' },
    ],
  },
  {
    label: 'nav.organization',
    items: [
      { label: 'users.title', to: '/users', icon: 'person', permission: 'accounts' },
      { label: 'organization.title', to: '/settings', icon: 'filter', permission: 'organization' },
      { label: 'theme.title', to: '/theme', icon: 'eye', permission: 'organization' },
      { label: 'retention.title', to: '/retention', icon: 'history', permission: 'retention' },
      { label: 'audit.title', to: '/audit', icon: 'shield', permission: 'audit' },
    ],
  },
];

/** The navigation, without what the user may not open. */
export const navigation = computed<NavigationGroup[]>(() =>
  groups
    .map((group) => ({ ...group, items: group.items.filter(({ permission }) => can(permission)) }))
    .filter(({ items }) => items.length > 0),
);

/** Returns the path of the first page that the user may open. */
function startPath(): string {
  return navigation.value[0]?.items[0]?.to ?? '/';
}

/**
 * Returns the page of a path and the parameters in it; null if there is none, or the user may not open it. Users who have
 * to set up two-step login get their account at every path, and afterwards what they came for.
 */
export function findPage(path: string): { page: Page; params: PageProps } | null {
  const start = path === '/' ? startPath() : path;
  const given = session.value?.twoStep === 'required' ? accountPath : start;
  for (const page of pages) {
    const params = matchPath(page.path, given);
    if (params !== null) return page.permission === null || can(page.permission) ? { page, params } : null;
  }
  return null;
}

/** Whether a part of the navigation is open: its page, or one below it. */
export function isOpen(to: string): boolean {
  const current = path.value === '/' ? startPath() : path.value;
  return current === to || current.startsWith(`${to}/`);
}
