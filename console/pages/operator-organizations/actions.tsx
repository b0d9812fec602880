import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OperatedOrganization } from '../../api-types.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { request } from '../../shell/api.ts';
import { t } from '../../shell/text.ts';

type Plan = OperatedOrganization['plan'];

/** Creates an organization. */
export function CreateDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (organization: OperatedOrganization) => Promise<void>;
}): JSX.Element {
  const [name, setName] = useState('');
  const [slug, setSlug] = useState('');
  const [plan, setPlan] = useState<Plan>('edtech');
  return (
    <ActionDialog
      title={t('organizations.create')}
      action={t('organizations.create')}
      onClose={onClose}
      onAction={async () => {
        await onCreated(await request('POST /api/operator/organizations', { body: { name, slug, plan } }));
      }}
    >
      <TextField
        label={t('organization.name')}
        autoFocus
        value={name}
        onInput={(value) => {
          setName(value);
          setSlug(slugOf(value));
        }}
      />
      <TextField
        label={t('lesson.slug')}
        help={t('organizations.slug_help')}
        value={slug}
        onInput={setSlug}
      />
      <SelectField
        label={t('organization.plan')}
        help={t(`plan.${plan}_help`)}
        value={plan}
        options={(['edtech', 'solo'] as const).map((value) => ({ value, label: t(`plan.${value}`) }))}
        onChange={setPlan}
      />
    </ActionDialog>
  );
}

function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** Invites an administrator of an organization. */
export function InviteAdminDialog({
  organization: { id, name },
  onClose,
  onInvited,
}: {
  organization: OperatedOrganization;
  onClose: () => void;
  onInvited: (invited: { email: string; url: string }) => void;
}): JSX.Element {
  const [email, setEmail] = useState('');
  return (
    <ActionDialog
      title={t('organizations.invite_title', { name })}
      action={t('users.invite_do')}
      onClose={onClose}
      onAction={async () => {
        const { invitation } = await request('POST /api/operator/organizations/{organizationId}/users', {
          params: { organizationId: id },
          body: { email, role: 'admin' },
        });
        onInvited({ email, url: invitation.url });
      }}
    >
      <TextField
        label={t('log_in.email')}
        type="email"
        help={t('role.admin_help')}
        autoFocus
        value={email}
        onInput={setEmail}
      />
    </ActionDialog>
  );
}

/** Suspends an organization, after saying what follows. */
export function SuspendDialog({
  organization: { name },
  onClose,
  onSuspend,
}: {
  organization: OperatedOrganization;
  onClose: () => void;
  onSuspend: () => Promise<unknown>;
}): JSX.Element {
  return (
    <ActionDialog
      title={t('organizations.suspend_title', { name })}
      action={t('organizations.suspend')}
      isDanger
      onClose={onClose}
      onAction={onSuspend}
    >
      <p>{t('organizations.suspend_text')}</p>
    </ActionDialog>
  );
}
