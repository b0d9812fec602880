import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button, IconButton } from '../../kit/button.tsx';
import { Chart, Columns, Rows } from '../../kit/chart.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox, Filter, SelectField, TextField } from '../../kit/field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Badge, CodeBlock, CopyText, EmptyState, Facts, Progress, SearchField } from '../../kit/parts.tsx';
import { Table } from '../../kit/table.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { Time } from '../../kit/time.tsx';
import { toast } from '../../kit/toast.tsx';
import { PageFrame } from '../../shell/page.tsx';

/* For developers only, so its texts are not translated. */

const options = [
  { value: 'a', label: 'Aurora' },
  { value: 'b', label: 'Borealis' },
];
const bars = [4, 9, 15, 11, 6].map((count, index) => ({
  label: `${index * 20}–${index * 20 + 20}`,
  share: count / 15,
  value: `${count} learners`,
}));
const rows = [
  { name: 'Tides', count: 1204 },
  { name: 'Volcanoes', count: 88 },
];

/** Shows each part of the kit. */
export default function KitPage(): JSX.Element {
  const [text, setText] = useState('');
  const [choice, setChoice] = useState('a');
  const [isChecked, setChecked] = useState(true);
  return (
    <PageFrame
      title="Kit"
      status={<Badge tone="active">Parts of the console</Badge>}
      tabs={
        <Tabs
          label="Example"
          items={[
            { label: 'Current', to: '/kit' },
            { label: 'Other', to: '/lessons' },
          ]}
        />
      }
    >
      <Section title="Buttons">
        <Button kind="primary">Primary</Button>
        <Button>Plain</Button>
        <Button icon="upload">With an icon</Button>
        <Button kind="quiet">Quiet</Button>
        <Button kind="danger">Danger</Button>
        <Button isBusy>Busy</Button>
        <Button isDisabled>Disabled</Button>
        <IconButton label="Close" icon="close" />
        <Menu
          label="Menu"
          items={[
            { label: 'Edit', onSelect: () => {} },
            null,
            { label: 'Delete', isDanger: true, onSelect: () => {} },
          ]}
        >
          <Icon name="more" />
        </Menu>
      </Section>
      <Section title="Fields">
        <SearchField label="Search" value="" onSearch={() => {}} />
        <Filter label="Status" value={choice} options={options} onChange={setChoice} />
      </Section>
      <div class="columns">
        <TextField label="Name" help="A sentence of help." value={text} onInput={setText} />
        <TextField label="With an error" error="This name is taken." value={text} onInput={setText} />
        <SelectField label="Choice" value={choice} options={options} onChange={setChoice} />
        <Checkbox label="Publish" help="Learners see it." isChecked={isChecked} onChange={setChecked} />
      </div>
      <Section title="States">
        <Badge tone="good">Published</Badge>
        <Badge tone="neutral">Draft</Badge>
        <Badge tone="warn">Unpublished</Badge>
        <Badge tone="bad">Failed</Badge>
        <Badge tone="active">Waiting</Badge>
        <Time at={new Date(Date.now() - 7_200_000).toISOString()} />
        <CopyText value="319d284d-1f31-40a5-b1b7-f71e82a8f82d" label="Id" />
      </Section>
      <Progress value={0.4} label="Progress" />
      <Messages />
      <Data />
    </PageFrame>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="stack">
      <h2>{title}</h2>
      <div class="toolbar">{children}</div>
    </section>
  );
}

function Messages(): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Section title="Messages">
        <Button onPress={() => toast('The lesson is published.')}>Done</Button>
        <Button onPress={() => toast('The service doesn’t respond.', 'failed')}>Failed</Button>
        <Button onPress={() => setOpen(true)}>Dialog</Button>
      </Section>
      {isOpen && (
        <Dialog
          title="A dialog"
          onClose={() => setOpen(false)}
          footer={<Button onPress={() => setOpen(false)}>Close</Button>}
        >
          <p>Escape closes it, and focus returns to the button.</p>
        </Dialog>
      )}
    </>
  );
}

function Data(): JSX.Element {
  return (
    <>
      <Table
        caption="Table"
        rows={rows}
        rowKey={({ name }) => name}
        columns={[
          { label: 'Lesson', cell: ({ name }) => <strong>{name}</strong> },
          { label: 'Learners', isEnd: true, cell: ({ count }) => count.toLocaleString() },
        ]}
      />
      <div class="columns">
        <Chart title="Columns" bars={bars} columns={['%', 'Learners']}>
          <Columns bars={bars} label="Columns" />
        </Chart>
        <Chart title="Rows" bars={bars} columns={['%', 'Learners']}>
          <Rows bars={bars} />
        </Chart>
      </div>
      <div class="columns">
        <Facts
          items={[
            ['Name', 'Value'],
            ['Another', 'One more value'],
          ]}
        />
        <CodeBlock label="Code" code={'<div data-lectern-embed="…"></div>'} />
      </div>
      <EmptyState icon="book" title="Nothing here yet" action={<Button kind="primary">The next step</Button>}>
        Why, in a sentence.
      </EmptyState>
    </>
  );
}
