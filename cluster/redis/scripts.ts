/**
 * The only writers of the store, each run as one step by the server. Keys of one pool share a hash tag, so that a script
 * touches one slot of a Redis Cluster. Time is the server's alone.
 *
 *     gateways   sorted set: gateway -> end of its lease, ms
 *     engines    hash: engine -> its ledger as JSON, {since, rev, holdings}
 *     programs   two generations of a hash: program -> [owner, service, calls, place] as JSON
 *     keys       the same for each tenant: key -> program or engine, '' when it has had several names
 *     holds      a hash for each name that is held, which ends with its lease: gateway, value
 */

/** The beginning of scripts over engines. A ledger is divided as by the simulator’s `DividedLedger`; a test compares them. */
const LEDGER = `
local GATEWAYS, ENGINES = KEYS[1], KEYS[2]
local gateway, channel, leaseMs, settleMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A holding: gateway, slots, window (-1: none), calls in flight, waiting calls by level, their weight, sums over steps, programs ended, and tokens of several kinds.
local NAME, SLOTS, WINDOW, IN_FLIGHT, WAITING = 1, 2, 3, 4, 5
local told, holders = {}, {}

local function nextLevel(holding)
  local served = holding[SLOTS] - holding[IN_FLIGHT]
  for i, calls in ipairs(holding[WAITING]) do
    if calls > served then return i - 1 end
    served = served - calls
  end
  return math.huge
end

-- The best level first; of equal levels, the one that holds fewer slots, and was given none for longest: it is last then.
local function giveToWaiting(holdings, free)
  local levels = {}
  for i, holding in ipairs(holdings) do levels[i] = nextLevel(holding) end
  while free > 0 do
    local best = 1
    for i = 2, #holdings do
      if levels[i] < levels[best] or (levels[i] == levels[best] and holdings[i][SLOTS] < holdings[best][SLOTS]) then
        best = i
      end
    end
    if levels[best] == math.huge then break end
    local given = table.remove(holdings, best)
    given[SLOTS] = given[SLOTS] + 1
    table.insert(holdings, given)
    table.remove(levels, best)
    table.insert(levels, nextLevel(given))
    free = free - 1
  end
  return free
end

-- Raises the fewest unused slots to one common number, in one pass: a window may have 100,000 slots.
local function spread(holdings, free)
  local unused = {}
  for i, holding in ipairs(holdings) do unused[i] = holding[SLOTS] - holding[IN_FLIGHT] end
  table.sort(unused)
  local sum, count = 0, 0
  repeat
    count = count + 1
    sum = sum + unused[count]
  until count == #unused or free + sum < count * unused[count + 1]
  local each = math.floor((free + sum) / count)
  local rest = free + sum - each * count
  for _, holding in ipairs(holdings) do
    if holding[SLOTS] - holding[IN_FLIGHT] <= each then
      holding[SLOTS] = holding[IN_FLIGHT] + each + (rest > 0 and 1 or 0)
      rest = rest - 1
    end
  end
end

local function give(ledger, newcomer)
  local holdings, window, free = ledger.holdings, math.huge, 0
  for _, holding in ipairs(holdings) do
    if holding[WINDOW] >= 0 then window = math.min(window, holding[WINDOW]) end
    free = free - holding[SLOTS]
  end
  if window == math.huge then return end
  -- A new ledger may be one that was lost. Gateways that have not claimed yet may have calls in flight.
  if now - ledger.since < settleMs then
    local live = math.max(tonumber(ARGV[5]), redis.call('ZCARD', GATEWAYS))
    local share = math.floor(window / live)
    window = math.floor(window * math.min(1, #holdings / live))
    -- Until it hears of less, a newcomer uses the equal share that it has had alone: nobody else may get that.
    if newcomer then
      local more = math.max(0, math.min(share - newcomer[SLOTS], free + window))
      newcomer[SLOTS] = newcomer[SLOTS] + more
      free = free - more
    end
  end
  free = giveToWaiting(holdings, free + window)
  if free > 0 then spread(holdings, free) end
end

local function placeOf(ledger, name)
  for i, holding in ipairs(ledger.holdings) do
    if holding[NAME] == name then return i end
  end
end

local function save(engine, ledger, newcomer)
  if #ledger.holdings == 0 then return redis.call('HDEL', ENGINES, engine) end
  give(ledger, newcomer)
  ledger.rev = ledger.rev + 1
  local text = cjson.encode(ledger)
  redis.call('HSET', ENGINES, engine, text)
  told[#told + 1] = '[' .. cjson.encode(engine) .. ',' .. text .. ']'
  for _, holding in ipairs(ledger.holdings) do holders[holding[NAME]] = true end
end

-- Gateways that are gone lose their slots.
local function drop(names)
  local engines = redis.call('HGETALL', ENGINES)
  for i = 1, #engines, 2 do
    local ledger, isChanged = cjson.decode(engines[i + 1]), false
    for _, name in ipairs(names) do
      local place = placeOf(ledger, name)
      if place then
        table.remove(ledger.holdings, place)
        isChanged = true
      end
    end
    if isChanged then save(engines[i], ledger) end
  end
end

local function dropDead()
  local dead = redis.call('ZRANGEBYSCORE', GATEWAYS, '-inf', now)
  for _, name in ipairs(dead) do redis.call('ZREM', GATEWAYS, name) end
  if #dead > 0 then drop(dead) end
  return #dead > 0
end

-- @return whether the lease had ended, or never begun
local function renewLease()
  local added = redis.call('ZADD', GATEWAYS, now + leaseMs, gateway)
  redis.call('PEXPIRE', GATEWAYS, 4 * leaseMs)
  redis.call('PEXPIRE', ENGINES, 4 * leaseMs)
  return added
end

-- Tells those who share a changed engine, but one: it has the same in its answer.
local function tellAllBut(name)
  local text = '[' .. table.concat(told, ',') .. ']'
  holders[name] = nil
  for holder in pairs(holders) do redis.call('PUBLISH', channel .. holder, text) end
  return text
end
`;

/**
 * The common beginning of scripts over a bounded table. It has two generations. When the young one holds half of what is
 * allowed, or is half as old as entries may get, it becomes the old one, and the old one goes. So at least the last
 * half is kept, an entry lives on when it is used, and neither needs an index.
 */
const TABLE = `
local YOUNG, OLD = KEYS[1], KEYS[2]
local ttlMs, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local OWNER, SERVICE, CALLS, PLACE = 1, 2, 3, 4 -- of a program's entry
local leftMs = redis.call('PTTL', YOUNG)
if leftMs >= 0 and (leftMs < ttlMs / 2 or redis.call('HLEN', YOUNG) >= most / 2) then
  redis.call('UNLINK', OLD)
  redis.call('RENAME', YOUNG, OLD)
  leftMs = -2
end

local function get(field)
  return redis.call('HGET', YOUNG, field) or redis.call('HGET', OLD, field)
end

local function set(field, text)
  redis.call('HSET', YOUNG, field, text)
  if leftMs < 0 then
    redis.call('PEXPIRE', YOUNG, ttlMs)
    leftMs = ttlMs
  end
end
`;

/** All scripts by name. Each has two keys. */
export const SCRIPTS = {
  maitredHeartbeat: `${LEDGER}
local hasClaims = ARGV[6] == '1'
dropDead()
-- The server's clock has gone back, or a replica with another clock was promoted.
for _, name in ipairs(redis.call('ZRANGEBYSCORE', GATEWAYS, '(' .. (now + leaseMs), '+inf')) do
  redis.call('ZADD', GATEWAYS, now + leaseMs, name)
end
local isNew = renewLease()
if hasClaims and redis.call('EXISTS', ENGINES) == 0 then isNew = 1 end
tellAllBut('')
return {isNew, redis.call('ZRANGEBYSCORE', GATEWAYS, '-inf', '+inf')}
`,

  /** A claim is a holding, with its engine as name and the slots that it keeps. A claim with only an engine releases it. */
  maitredClaim: `${LEDGER}
local hadDead = dropDead()
local isNew = renewLease()
for _, claim in ipairs(cjson.decode(ARGV[6])) do
  local engine = claim[NAME]
  local text = redis.call('HGET', ENGINES, engine)
  local ledger = text and cjson.decode(text) or {since = now, rev = 0, holdings = {}}
  local place = placeOf(ledger, gateway)
  if #claim > 1 then
    local known = place and ledger.holdings[place][SLOTS] or 0
    claim[NAME] = gateway
    claim[SLOTS] = math.max(claim[IN_FLIGHT], math.min(claim[SLOTS], known))
    ledger.holdings[place or #ledger.holdings + 1] = claim
    save(engine, ledger, not place and claim)
  elseif place then
    table.remove(ledger.holdings, place)
    save(engine, ledger)
  end
end
redis.call('PEXPIRE', ENGINES, 4 * leaseMs)
return {isNew, tellAllBut(hadDead and '' or gateway)}
`,

  maitredLeave: `${LEDGER}
redis.call('ZREM', GATEWAYS, gateway)
drop({gateway})
tellAllBut(gateway)
`,

  maitredTake: `${TABLE}
local gateway, program, channel = ARGV[3], ARGV[4], ARGV[5]
local text = get(program)
local entry = text and cjson.decode(text) or {}
local from = entry[OWNER] or ''
if from == gateway then from = '' end
entry[OWNER] = gateway
set(program, cjson.encode(entry))
if from ~= '' then redis.call('PUBLISH', channel .. from, program) end
return {from, entry[SERVICE] or '', entry[CALLS] or 0, entry[PLACE] or ''}
`,

  /** Numbers of a record stay text, and so exact. @return the programs that another gateway owns */
  maitredPut: `${TABLE}
local gateway, foreign = ARGV[3], {}
for i = 4, #ARGV, 4 do
  local program, service, calls, place = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3]
  local text = get(program)
  local entry = text and cjson.decode(text) or {gateway}
  if entry[SERVICE] then
    if tonumber(entry[SERVICE]) >= tonumber(service) then service = entry[SERVICE] end
    calls = math.max(calls, entry[CALLS])
    if entry[OWNER] ~= gateway then place = entry[PLACE] end
  end
  set(program, cjson.encode({entry[OWNER], service, calls, place}))
  if entry[OWNER] ~= gateway then foreign[#foreign + 1] = program end
end
return foreign
`,

  maitredForget: `${TABLE}
local gateway, program = ARGV[3], ARGV[4]
local text = get(program)
if text and cjson.decode(text)[OWNER] == gateway then
  redis.call('HDEL', YOUNG, program)
  redis.call('HDEL', OLD, program)
end
`,

  maitredRemember: `${TABLE}
for i = 3, #ARGV, 2 do
  local key, name = ARGV[i], ARGV[i + 1]
  local known = get(key)
  if known and known ~= name then name = '' end
  set(key, name)
end
`,

  maitredFind: `${TABLE}
for i = 3, #ARGV do
  local name = get(ARGV[i])
  if name then
    set(ARGV[i], name)
    return name
  end
end
return ''
`,

  maitredHold: `
local HELD, gateway, value, leaseMs = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local owner = redis.call('HGET', HELD, 'gateway')
if owner and owner ~= gateway then return {0, redis.call('HGET', HELD, 'value')} end
if leaseMs == 0 then
  redis.call('UNLINK', HELD)
  return {0, value}
end
redis.call('HSET', HELD, 'gateway', gateway, 'value', value)
redis.call('PEXPIRE', HELD, leaseMs)
return {1, value}
`,
} as const;

export type ScriptName = keyof typeof SCRIPTS;
