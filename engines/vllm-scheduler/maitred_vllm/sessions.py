"""Which free blocks of a prefix cache are evicted first, by the sessions that have used them."""

import time


class SessionQueue:
    """vLLM's queue of free blocks, in two parts: blocks of no session are evicted before those of open ones.

    Within each part the longest unused goes first, as in vLLM. A block counts as free in either part, so no session
    ever takes room from a request: only the order of eviction differs. A session closes by its client's word, or a
    lease after its last use, or with the last of its blocks. Takes the place of `FreeKVCacheBlockQueue`.
    """

    def __init__(self, free, make_empty, blocks, clock=time.monotonic):
        """
        free: the queue so far, which goes on to hold the blocks of no session
        make_empty: makes a queue of no blocks
        blocks: all blocks, by id
        clock: seconds
        """
        self._loose = free
        self._kept = make_empty()
        self._blocks = blocks
        self._clock = clock
        # Of each session, the longest unused first: when its lease ends, and its blocks, the first of a prefix first.
        self._sessions: dict[str, tuple[float, dict[int, None]]] = {}
        # Of each block, its sessions. A free block is in the kept part while it has any.
        self._owners: dict[int, set[str]] = {}

    def use(self, session, blocks, lease_s):
        """A request of the session has used these blocks, which are not free. The first of a prefix comes first."""
        _, own = self._sessions.pop(session, (0, {}))
        for block in blocks:
            own[block.block_id] = None
            self._owners.setdefault(block.block_id, set()).add(session)
        if own:
            self._sessions[session] = (self._clock() + lease_s, own)

    def close(self, session):
        """Nothing more of the session is needed: blocks that no other session has used stay no longer than anything else."""
        _, own = self._sessions.pop(session, (0, {}))
        freed = []
        for block_id in reversed(own):
            owners = self._owners[block_id]
            owners.discard(session)
            if owners:
                continue
            del self._owners[block_id]
            block = self._blocks[block_id]
            if block.ref_cnt == 0:
                self._kept.remove(block)
                freed.append(block)
        self._loose.append_n(freed)

    def expire(self):
        """Closes sessions whose leases are over, up to one with a longer lease."""
        now = self._clock()
        while self._sessions:
            session, (until, _) = next(iter(self._sessions.items()))
            if until > now:
                return
            self.close(session)

    def close_all(self):
        """The cache is empty."""
        for session in list(self._sessions):
            self.close(session)

    # The interface of `FreeKVCacheBlockQueue`.

    @property
    def num_free_blocks(self):
        return self._loose.num_free_blocks + self._kept.num_free_blocks

    def popleft(self):
        return self.popleft_n(1)[0] if self.num_free_blocks else self._loose.popleft()

    def popleft_n(self, n):
        loose = min(n, self._loose.num_free_blocks)
        popped = self._loose.popleft_n(loose)
        for block in self._kept.popleft_n(n - loose):
            self._forget(block)
            popped.append(block)
        return popped

    def remove(self, block):
        (self._kept if block.block_id in self._owners else self._loose).remove(block)

    def append(self, block):
        self.append_n([block])

    def append_n(self, blocks):
        owned = [block for block in blocks if block.block_id in self._owners]
        self._kept.append_n(owned)
        self._loose.append_n([block for block in blocks if block.block_id not in self._owners] if owned else blocks)

    def prepend_n(self, blocks):
        """These hold nothing that could be found."""
        for block in blocks:
            self._forget(block)
        self._loose.prepend_n(blocks)

    def get_all_free_blocks(self):
        return self._loose.get_all_free_blocks() + self._kept.get_all_free_blocks()

    def iter_blocks_after(self, cursor):
        if cursor is not None and cursor.block_id in self._owners:
            yield from self._kept.iter_blocks_after(cursor)
            return
        yield from self._loose.iter_blocks_after(cursor)
        yield from self._kept.iter_blocks_after(None)

    def _forget(self, block):
        """The block is given to another request, or has lost its content."""
        for session in self._owners.pop(block.block_id, ()):
            _, own = self._sessions[session]
            del own[block.block_id]
            if not own:
                del self._sessions[session]
