import type { Operator, User } from '../../api-types.ts';
import { Badge } from '../../kit/parts.tsx';
import type { Tone } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { t } from '../../shell/text.ts';

const tones: Record<User['status'], Tone> = {
  invited: 'active',
  active: 'good',
  disabled: 'neutral',
};

/** The columns that accounts of all kinds have, before those with actions. @param others come after the email address */
export function accountColumns<Account extends Operator>(
  others: readonly Column<Account>[] = [],
): Column<Account>[] {
  return [
    { label: t('log_in.email'), cell: ({ email }) => <strong>{email}</strong> },
    ...others,
    {
      label: t('lessons.status'),
      cell: ({ status }) => <Badge tone={tones[status]}>{t(`users.${status}`)}</Badge>,
    },
    {
      label: t('users.last'),
      isEnd: true,
      isMinor: true,
      cell: ({ lastLogInAt }) => (lastLogInAt === null ? '–' : <Time at={lastLogInAt} />),
    },
  ];
}
