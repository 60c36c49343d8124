import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { type Column, focusRowOf, List } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { EditPlan } from './edit-plan.tsx';
import { words } from './strings.ts';

type Plan = Outputs['plans']['list']['data'][number];

const text = words.plans;
const count = (value: number | null) => (value === null ? words.unlimited : value.toLocaleString('en'));

/** Lists the plans with their limits. Operators create, change, and delete them here. */
export function PlansPage() {
  const { open, plan: plan_param } = useSearch({ from: '/shell/instance/plans' });
  const navigate = useNavigate({ from: '/instance/plans' });
  const plans = useQuery(trpc.plans.list.queryOptions({}));
  const plan = plans.data?.data.find(({ name }) => name === plan_param);
  const close = () => {
    void navigate({ search: {}, replace: true });
    focusRowOf(plan_param);
  };
  return (
    <Page>
      <PageHeader
        title={text.title}
        answer={plans.data && text.answer(plans.data.data.length)}
        actions={
          <Button kind="primary" needs="operator" onClick={() => void navigate({ search: { open: 'plan' } })}>
            <Plus size={15} />
            {text.create}
          </Button>
        }
      />
      <QueryView query={plans}>
        {({ data }) => (
          <List
            label={text.title}
            columns={columns({
              edit: ({ name }) => void navigate({ search: { plan: name } }),
              remove: ({ name }) => void navigate({ search: { open: 'delete', plan: name } }),
            })}
            rows={data}
            idOf={({ name }) => name}
            nameOf={({ name }) => name}
            onOpen={({ name }) => void navigate({ search: { plan: name } })}
          />
        )}
      </QueryView>
      {open === 'plan' && <EditPlan plan={null} onClose={close} />}
      {open === undefined && plan && <EditPlan plan={plan} onClose={close} />}
      {open === 'delete' && plan && (
        <FormDialog
          title={text.removing.title(plan.name)}
          about={text.removing.about}
          keep={text.removing.keep}
          submit={text.removing.submit}
          danger
          run={() => client.plans.delete.mutate({ name: plan.name })}
          onDone={({ name }) => toast(text.removed(name))}
          onClose={close}
        />
      )}
    </Page>
  );
}

interface Actions {
  readonly edit: (plan: Plan) => void;
  readonly remove: (plan: Plan) => void;
}

function columns({ edit, remove }: Actions): readonly Column<Plan>[] {
  const number = (name: string, show: (plan: Plan) => number | null, less = true): Column<Plan> => ({
    name,
    width: 'fit',
    end: true,
    less,
    show: (plan) => {
      const value = show(plan);
      return <span className={value === null ? 'num faint' : 'num'}>{count(value)}</span>;
    },
  });
  return [
    {
      name: text.columns.name,
      show: ({ name }) => (
        <Link className="row-link" from="/instance/plans" search={{ plan: name }}>
          {name}
        </Link>
      ),
    },
    number(text.columns.monthly, (plan) => plan.monthly_emails, false),
    number(text.columns.recipients, (plan) => plan.recipients_per_request),
    number(text.columns.send, (plan) => plan.send_per_minute),
    number(text.columns.logs, (plan) => plan.logs_per_minute),
    number(text.columns.other, (plan) => plan.default_per_minute),
    {
      name: '',
      width: 'fit',
      end: true,
      show: (plan) => (
        <Menu label={text.actions(plan.name)} className="button plain icon" button={<Ellipsis size={16} />}>
          <MenuItem needs="operator" onSelect={() => edit(plan)}>
            <Pencil size={14} />
            {text.edit}
          </MenuItem>
          <MenuItem needs="operator" onSelect={() => remove(plan)}>
            <Trash2 size={14} />
            {text.remove}
          </MenuItem>
        </Menu>
      ),
    },
  ];
}
