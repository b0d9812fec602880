import 'messages:page/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CreatedLtiRegistration } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Filter, TextField } from '../../kit/field.tsx';
import { CopyText } from '../../kit/parts.tsx';
import { exactTime } from '../../kit/time.tsx';
import { messageOf, orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { PageFrame } from '../../shell/page.tsx';
import { Link, navigate, query, setQuery } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { copied, productIds, products, valuesOf } from './data.ts';
import type { Answer, Entry, Product, ProductId } from './data.ts';

/** How to connect a learning platform: what to enter where, in its own words. */
export default function ConnectPage(): JSX.Element {
  const id = productIds.find((one) => one === query.value.product) ?? 'moodle';
  const product: Product = products[id];
  const [created, setCreated] = useState<CreatedLtiRegistration>();
  const create = () => orToast(async () => setCreated(await request('POST /api/platform-registrations')));
  const isManual = product.dynamic === undefined || query.value.way === 'manual';
  return (
    <PageFrame title={t('platforms.connect')} parents={[{ label: t('platforms.title'), to: '/platforms' }]}>
      <div class="toolbar">
        <Filter<ProductId>
          label={t('platforms.platform')}
          value={id}
          options={productIds.map((value) => ({ value, label: products[value].name }))}
          onChange={(value) => setQuery({ product: value, way: '' })}
        />
        {product.dynamic !== undefined && (
          <Filter
            label={t('connect.way')}
            value={isManual ? 'manual' : ''}
            options={[
              { value: '', label: t('connect.dynamic') },
              { value: 'manual', label: t('connect.manual') },
            ]}
            onChange={(way) => setQuery({ way })}
          />
        )}
      </div>
      {created === undefined ? (
        <section class="card">
          <p>{t('connect.create_text', { product: product.name })}</p>
          <div>
            <Button kind="primary" icon="plug" onPress={create}>
              {t('connect.create')}
            </Button>
          </div>
        </section>
      ) : isManual ? (
        <ManualSteps key={id} product={product} created={created} />
      ) : (
        product.dynamic && <DynamicSteps product={product} steps={product.dynamic} created={created} />
      )}
    </PageFrame>
  );
}

function DynamicSteps({
  product: { name },
  steps: { menu, entries, finish },
  created,
}: {
  product: Product;
  steps: NonNullable<Product['dynamic']>;
  created: CreatedLtiRegistration;
}): JSX.Element {
  return (
    <ol class="steps">
      <li>
        <p>{t('connect.open', { product: name })}</p>
        <p>
          <strong>{menu}</strong>
        </p>
      </li>
      <li>
        <p>{t('connect.enter_link', { time: exactTime(new Date(created.expiresAt)) })}</p>
        <Entries entries={entries} created={created} />
      </li>
      <li>
        <p>{t('connect.finish')}</p>
        <p>
          <strong>{finish.join(' → ')}</strong>
        </p>
      </li>
      <li>
        <p>{t('connect.approve')}</p>
        <p>
          <Link to="/platforms">{t('platforms.title')}</Link>
        </p>
      </li>
    </ol>
  );
}

function ManualSteps({
  product,
  created,
}: {
  product: Product;
  created: CreatedLtiRegistration;
}): JSX.Element {
  const { name, manual } = product;
  return (
    <ol class="steps">
      <li>
        <p>{t('connect.open', { product: name })}</p>
        <p>
          <strong>{manual.menu}</strong>
        </p>
      </li>
      <li>
        <p>{t('connect.enter')}</p>
        <Entries entries={manual.entries} created={created} />
      </li>
      <li>
        <p>{t('connect.answers', { product: name })}</p>
        <p>
          <strong>{manual.where}</strong>
        </p>
        <AnswersForm product={product} keySetId={created.keySetId} />
      </li>
    </ol>
  );
}

/** What to enter in the platform, in the order of its form. */
function Entries({
  entries,
  created,
}: {
  entries: readonly Entry[];
  created: CreatedLtiRegistration;
}): JSX.Element {
  return (
    <dl class="facts is-wide" dir="ltr">
      {entries.map(([label, value], index) => (
        <div key={index}>
          <dt>{label}</dt>
          <dd>
            {typeof value === 'string' ? (
              <CopyText value={copied[value](created)} label={label} />
            ) : (
              value.choose
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What the platform shows afterwards, under its own names. */
function AnswersForm({
  product: { name, manual, known = {} },
  keySetId,
}: {
  product: Product;
  keySetId: string;
}): JSX.Element {
  const [entered, setEntered] = useState<Partial<Record<Answer[1], string>>>({
    ...(known.issuer !== undefined && { issuer: known.issuer }),
    ...(known.authUrl !== undefined && { authUrl: known.authUrl }),
    ...(known.tokenUrl !== undefined && { tokenUrl: known.tokenUrl }),
    ...(known.jwksUrl !== undefined && { jwksUrl: known.jwksUrl }),
  });
  const [error, setError] = useState<string>();
  const save = async () => {
    setError(undefined);
    try {
      const { id } = await request('POST /api/platforms', { body: { name, ...valuesOf(entered, keySetId) } });
      toast(t('connect.connected', { product: name }));
      navigate(`/platforms/${id}`);
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  return (
    <form
      class="card is-narrow"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {manual.answers.map(([label, field]) => (
        <TextField
          key={field}
          label={label}
          value={entered[field] ?? ''}
          onInput={(value) => setEntered({ ...entered, [field]: value.trim() })}
        />
      ))}
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div>
        <Button kind="primary" onPress={save}>
          {t('connect.save')}
        </Button>
      </div>
    </form>
  );
}
