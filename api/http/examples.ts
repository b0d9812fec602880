/** Example values for the OpenAPI document, all of one lesson and one learner. */

export const lessonId = 'b2c31cf9-50e1-41e9-8a87-a67383019488';
export const versionId = '45ef28c5-e35b-49d5-8a51-5491e7ee3529';
export const mediaId = '1619c428-4d84-4e65-8c2b-8847b8aea3b0';
export const stepId = '59dfa9be-8d15-42bd-9c31-15a631d2d373';
export const learnerId = 'learner-7f3a';
export const userAttributes = { course: 'geography-7', group: 'b' };

export const token = [
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0',
  'eyJsZXNzb25JZCI6ImIyYzMxY2Y5LTUwZTEtNDFlOS04YTg3LWE2NzM4MzAxOTQ4OCJ9',
  'nQ0YVb3m0mE9wq2hWb9p3lY1Zf0a7Kc5rT8uJx6dSg4',
].join('.');

const times = { startedAt: '2026-11-21T09:14:31.027Z', lastActivityAt: '2026-11-21T09:14:31.027Z' };

export const item = {
  widgetId: 'MultipleChoice-a287a632-018e-4404-96f6-e4b8b65702e5',
  widgetType: 'MultipleChoice',
  stepId,
  answer: ['b'],
  score: 1,
  maxScore: 1,
  answeredAt: '2026-11-21T09:14:31.027Z',
};

export const embedProgress = {
  lessonId,
  learnerId,
  status: 'in_progress',
  score: 1,
  maxScore: 13,
  currentSectionIndex: 0,
  currentStepIndex: 1,
  totalSteps: 9,
  progressData: { seen: [stepId] },
  variableState: { reviewScore: 0 },
  items: [item],
  userAttributes,
  startedAt: times.startedAt,
  completedAt: null,
  lastActivityAt: times.lastActivityAt,
};

export const notStarted = {
  ...embedProgress,
  status: 'not_started',
  score: null,
  currentStepIndex: 0,
  progressData: null,
  variableState: null,
  items: null,
  startedAt: null,
};

export const ltiProgress = {
  lessonId,
  ltiUserId: '8f2c1d',
  platformId: '0d5f1c7e-2f0b-4b5e-9a77-64a1f1d2c3b4',
  contextId: 'course-42',
  courseId: '6b1f3f0e-4a0c-4f5f-8f8a-0a6f1f6c2d11',
  status: 'completed',
  score: 76.9231,
  maxScore: 100,
  currentSectionIndex: 2,
  currentStepIndex: 2,
  progressData: null,
  variableState: { reviewScore: 3 },
  startedAt: times.startedAt,
  completedAt: '2026-11-21T09:31:40.512Z',
  lastActivityAt: '2026-11-21T09:31:40.512Z',
};

export const chunkStep = {
  id: stepId,
  content: {
    content: [
      {
        type: 'Image',
        props: {
          id: 'Image-63817838',
          src: `media:${mediaId}`,
          alt: 'A harbour at low tide',
          caption: '',
        },
      },
    ],
    root: { props: {} },
  },
};

export const playerLesson = {
  lesson: {
    status: 'published',
    id: lessonId,
    title: 'How Tides Work',
    variable_definitions: [{ name: 'reviewScore', type: 'number', initialValue: 0 }],
    widget_settings: { overrides: {} },
  },
  sections: [
    {
      id: 'f8b6d676-2c2c-4db5-8a7a-75b51d69c13b',
      title: 'The pull of the Moon',
      order_index: 0,
      steps: [
        {
          id: stepId,
          title: 'A harbour that breathes',
          order_index: 0,
          content: chunkStep.content,
        },
      ],
    },
  ],
  totalSteps: 1,
  totalSections: 1,
  attributions: [],
};

export const metadata = {
  title: 'How Tides Work',
  status: 'published',
  totalSections: 1,
  totalSteps: 1,
  estimatedDuration: 25,
};

export const contentUrl = {
  base: `/content/v1/${lessonId}/${versionId}/1795269600/Wn3vYb0m3mmE9wq2hWb9p3lY1Zf0a7Kc5rT8uJx6dSg/`,
  expiresAt: '2026-11-21T14:00:00.000Z',
  chunksUrl: `/content/v1/${lessonId}/${versionId}/1795269600/Jx2m0cYb5Qe8rT1uZk9dSgWn3vYb0m3mmE9wq2hWb9p/chunks/`,
  versionId,
};

export const oembed = {
  version: '1.0',
  type: 'rich',
  provider_name: 'Lectern',
  provider_url: 'https://lessons.example',
  title: 'Lesson',
  width: 960,
  height: 640,
  html:
    `<iframe src="https://lessons.example/embed/${lessonId}" title="Lesson" width="960" height="640" ` +
    'style="border:0;max-width:100%" allow="fullscreen" loading="lazy"></iframe>',
  cache_age: 3600,
};

export const listedLesson = {
  id: lessonId,
  slug: 'how-tides-work',
  title: 'How Tides Work',
  status: 'published',
  latestVersion: { id: versionId, versionNumber: 1, publishedAt: '2026-11-20T15:01:00.412Z' },
  totalSections: 3,
  totalSteps: 9,
  updatedAt: '2026-11-20T15:01:00.412Z',
};

/** The password of the user below. */
export const password = 'correct horse battery staple';

export const userSession = {
  user: { id: '2f1e6a94-7d1c-4c0a-8a6e-5b3d9c2f7e10', email: 'ada@acme.example', role: 'author' },
  organization: {
    id: '9c4b7a1e-3d2f-4e5a-8b6c-7d8e9f0a1b2c',
    slug: 'acme',
    name: 'Acme Academy',
    plan: 'edtech',
  },
  permissions: ['read', 'content'],
  twoStep: 'off',
  expiresAt: '2026-11-21T21:12:04.180Z',
};

export const embedSession = { ...embedProgress, attempt: 1, attemptCompleted: false, versionId };
