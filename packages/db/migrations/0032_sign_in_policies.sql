-- The release before can run on it: it requires no second factor.

-- Who must have a second factor, for a workspace or for the whole instance. Without a row, it is optional.
create table sign_in_policies (
  -- The instance is the UUID of zeros.
  workspace_id uuid primary key,
  second_factor text not null check (second_factor in ('required_for_admins', 'required')),
  -- How long people have from the policy, or from when they joined.
  grace_days integer not null check (grace_days between 0 and 90),
  since timestamptz not null
);
