import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../kit/button.tsx';
import { SecretDialog } from '../../kit/dialog.tsx';
import { Badge, Facts, Notice } from '../../kit/parts.tsx';
import { toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { PageFrame } from '../../shell/page.tsx';
import { session } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { CodeDialog, PasswordDialog, SetUpDialog } from './actions.tsx';

/** The user's own account: password and two-step login. */
export default function AccountPage(): JSX.Element {
  const [changesPassword, setChangesPassword] = useState(false);
  const { user, organization, twoStep } = session.value ?? {};
  return (
    <PageFrame title={t('account.title')}>
      {twoStep === 'required' && (
        <Notice tone="warn" title={t('account.required')}>
          <p>{t('account.required_text')}</p>
        </Notice>
      )}
      <div class="columns">
        <TwoStepCard state={twoStep ?? 'off'} />
        <section class="card">
          <header>
            <h2>{t('account.log_in')}</h2>
          </header>
          <Facts
            items={[
              [t('log_in.email'), user?.email],
              Boolean(organization) && [t('organizations.organization'), organization?.name],
            ]}
          />
          <div>
            <Button icon="key" onPress={() => setChangesPassword(true)}>
              {t('account.password')}
            </Button>
          </div>
        </section>
      </div>
      {changesPassword && <PasswordDialog onClose={() => setChangesPassword(false)} />}
    </PageFrame>
  );
}

/** Reads the session again: whoever had to set up two-step login may then open other pages. */
async function reloadSession(): Promise<void> {
  session.value = await request('GET /api/session');
}

function TwoStepCard({ state }: { state: 'on' | 'off' | 'required' }): JSX.Element {
  const [open, setOpen] = useState<'set_up' | 'turn_off' | 'new_codes'>();
  /** The recovery codes, until the user has stored them. */
  const [codes, setCodes] = useState<readonly string[]>();
  const isOn = state === 'on';
  const close = () => setOpen(undefined);
  const show = (recoveryCodes: readonly string[]) => {
    close();
    setCodes(recoveryCodes);
  };
  return (
    <section class="card">
      <header>
        <h2>{t('account.two_step')}</h2>
        <Badge tone={isOn ? 'good' : 'neutral'}>{t(isOn ? 'account.on' : 'account.off')}</Badge>
      </header>
      <p class="muted">{t('account.two_step_text')}</p>
      <div class="toolbar">
        <Button
          kind={isOn ? 'plain' : 'primary'}
          icon={isOn ? undefined : 'shield'}
          onPress={() => setOpen('set_up')}
        >
          {t(isOn ? 'account.another' : 'account.set_up')}
        </Button>
        {isOn && <Button onPress={() => setOpen('new_codes')}>{t('account.new_codes')}</Button>}
        {isOn && <Button onPress={() => setOpen('turn_off')}>{t('account.turn_off')}</Button>}
      </div>
      {open === 'set_up' && <SetUpDialog isOn={isOn} onClose={close} onDone={show} />}
      {open === 'new_codes' && (
        <CodeDialog
          title={t('account.new_codes')}
          text={t('account.new_codes_text')}
          onClose={close}
          onCode={async (code) => {
            const renewed = await request('POST /api/session/two-step/recovery-codes', { body: { code } });
            show(renewed.recoveryCodes);
          }}
        />
      )}
      {open === 'turn_off' && (
        <CodeDialog
          title={t('account.turn_off')}
          text={t('account.turn_off_text')}
          onClose={close}
          onCode={async (code) => {
            await request('POST /api/session/two-step/disable', { body: { code } });
            toast(t('account.turned_off'));
            close();
            await reloadSession();
          }}
        />
      )}
      {codes && (
        <SecretDialog
          title={t('account.codes')}
          text={t('account.codes_text')}
          secret={codes.join('\n')}
          onClose={() => {
            setCodes(undefined);
            void reloadSession();
          }}
        />
      )}
    </section>
  );
}
