"""Runs where vLLM is installed: `PYTHONPATH=. python -m unittest` in this folder."""

import unittest
from types import SimpleNamespace
from unittest.mock import patch

import vllm
from vllm.v1.core.block_pool import BlockPool
from vllm.v1.core.kv_cache_utils import BlockHash, FreeKVCacheBlockQueue, make_block_hash_with_group_id

import maitred_vllm
from maitred_vllm.scheduler import with_sessions
from maitred_vllm.sessions import SessionQueue


class Manager:
    """The parts of vLLM's cache manager that its scheduler uses, over its real pool of blocks."""

    def __init__(self, size, enable_caching=True):
        self.block_pool = BlockPool(size + 1, enable_caching, hash_block_size=16)
        self.held = {}

    def get_blocks(self, request_id):
        return SimpleNamespace(blocks=(self.held.get(request_id, []),))

    def free(self, request):
        self.block_pool.free_blocks(reversed(self.held.pop(request.request_id, [])))


class Stock:
    """The parts of vLLM's scheduler that are changed."""

    def __init__(self, manager):
        self.kv_cache_manager = manager

    def add_request(self, request):
        pass

    def _free_request_blocks(self, request):
        self.kv_cache_manager.free(request)

    def reset_prefix_cache(self):
        return self.kv_cache_manager.block_pool.reset_prefix_cache()


class World:
    def __init__(self, size=8, enable_caching=True):
        self.now = 0.0
        self.manager = Manager(size, enable_caching)
        self.pool = self.manager.block_pool
        self.scheduler = with_sessions(Stock)(self.manager)
        self.scheduler._sessions._clock = lambda: self.now
        self.requests = 0

    def run(self, content, session=None, uncached=0, **xargs):
        """A request whose prompt has these blocks, one letter each, and further ones that are not full."""
        self.requests += 1
        if session is not None:
            xargs["maitred_session"] = session
        request = SimpleNamespace(
            request_id=str(self.requests), sampling_params=SimpleNamespace(extra_args=xargs or None)
        )
        self.scheduler.add_request(request)
        found = []
        for at in range(len(content)):
            block = self.pool.get_cached_block(hash_of(content[: at + 1]), [0])
            if block is None:
                break
            found += block
        self.pool.touch(found)
        new = self.pool.get_new_blocks(len(content) - len(found))
        for at, block in enumerate(new, len(found)):
            self.pool._insert_block_hash(group_hash(content[: at + 1]), block, num_tokens=16 * (at + 1))
        self.manager.held[request.request_id] = found + new + self.pool.get_new_blocks(uncached)
        self.scheduler._free_request_blocks(request)
        return len(found)

    def cached(self, content):
        """Number of leading blocks that are still cached."""
        prefixes = (content[: at + 1] for at in range(len(content)))
        hits = [self.pool.get_cached_block(hash_of(prefix), [0]) is not None for prefix in prefixes]
        return (hits + [False]).index(False)


def hash_of(content):
    return BlockHash(content.encode())


def group_hash(content):
    return make_block_hash_with_group_id(hash_of(content), 0)


class SessionTest(unittest.TestCase):
    def test_contexts_of_no_session_go_before_older_ones_of_open_sessions(self):
        world = World()
        world.run("abcd", session="s")
        for other in ("wx", "yz", "uv"):
            world.run(other)
        self.assertEqual(world.cached("abcd"), 4)
        self.assertEqual(world.cached("wx"), 0)

    def test_without_sessions_the_longest_unused_goes_first_as_in_vllm(self):
        world = World()
        for content in ("abcd", "wx", "yz", "uv"):
            world.run(content)
        self.assertEqual([world.cached(content) for content in ("abcd", "wx", "uv")], [2, 2, 2])

    def test_an_open_session_takes_no_room_from_requests(self):
        world = World()
        world.run("abcdefg", session="s")
        self.assertEqual(world.pool.get_num_free_blocks(), 8)
        world.run("stuvwxyz")
        self.assertEqual(world.cached("stuvwxyz"), 8)
        self.assertEqual(world.scheduler._sessions._sessions, {})

    def test_a_prefix_outlives_what_followed_it(self):
        world = World()
        world.run("abcdef", session="s")
        world.run("uvwx")
        self.assertEqual(world.cached("abcdef"), 4)

    def test_a_closed_session_stays_no_longer_than_others_from_its_end(self):
        world = World()
        world.run("abcd", session="s")
        world.run("wx", session="t")
        world.run("y", maitred_close=["s"])
        world.run("klmn")
        self.assertEqual(world.cached("abcd"), 1)
        self.assertEqual(world.cached("wx"), 2)

    def test_blocks_that_another_session_has_used_stay_when_one_closes(self):
        world = World()
        world.run("abcd", session="s")
        world.run("abxy", session="t")
        world.run("z", maitred_close=["s"])
        world.run("klm")
        self.assertEqual(world.cached("abxy"), 4)
        self.assertEqual(world.cached("abcd"), 2)

    def test_a_lease_ends_a_session_whose_client_is_gone(self):
        world = World()
        world.run("abcd", session="s", maitred_lease_s=60)
        world.now = 61
        world.run("wxyz")
        world.run("klm")
        self.assertEqual(world.cached("abcd"), 1)

    def test_each_use_begins_the_lease_anew(self):
        world = World()
        world.run("abcd", session="s", maitred_lease_s=60)
        world.now = 50
        self.assertEqual(world.run("abcd", session="s", maitred_lease_s=60), 4)
        world.now = 100
        world.run("wxyz")
        world.run("klmn")
        self.assertEqual(world.cached("abcd"), 4)

    def test_blocks_without_content_are_used_first(self):
        world = World()
        world.run("ab", session="s", uncached=2)
        world.run("cd")
        world.run("wxyz")
        self.assertEqual(world.cached("cd"), 2)

    def test_a_reset_ends_all_sessions(self):
        world = World()
        world.run("abcd", session="s")
        self.assertTrue(world.scheduler.reset_prefix_cache())
        self.assertEqual(world.scheduler._sessions._sessions, {})
        world.run("stuvwxyz")
        self.assertEqual(world.cached("stuvwxyz"), 8)

    def test_fields_of_a_wrong_kind_are_ignored(self):
        world = World()
        for wrong in ({"maitred_session": 7}, {"maitred_session": ""}, {"maitred_close": "s"}, {"maitred_close": [7]}):
            world.run("ab", **wrong)
        self.assertEqual(world.scheduler._sessions._sessions, {})
        world.run("ab", session="s", maitred_lease_s="long")
        world.run("ab", session="t", maitred_lease_s=-1)
        self.assertEqual(list(world.scheduler._sessions._sessions), ["s", "t"])

    def test_without_a_prefix_cache_nothing_changes(self):
        world = World(enable_caching=False)
        self.assertIsInstance(world.pool.free_block_queue, FreeKVCacheBlockQueue)
        world.requests = 1
        world.manager.held["x"] = world.pool.get_new_blocks(2)
        request = SimpleNamespace(
            request_id="x", sampling_params=SimpleNamespace(extra_args={"maitred_session": "s"})
        )
        world.scheduler._free_request_blocks(request)
        self.assertEqual(world.pool.get_num_free_blocks(), 8)

    def test_a_request_without_sampling_parameters_is_none_of_ours(self):
        world = World()
        request = SimpleNamespace(request_id="x", sampling_params=None)
        world.scheduler.add_request(request)
        world.scheduler._free_request_blocks(request)

    def test_random_traffic_keeps_every_block_in_one_place(self):
        import random

        dice = random.Random(7)
        world = World(size=12)
        for _ in range(3000):
            world.now += dice.random() * 10
            content = "".join(dice.choice("abc") for _ in range(dice.randint(1, 8)))
            session = dice.choice([None, "s", "t", "u"])
            close = [dice.choice("stu")] if dice.random() < 0.2 else []
            world.run(content, session, dice.randint(0, 3), maitred_close=close, maitred_lease_s=dice.randint(1, 60))
            queue = world.scheduler._sessions
            ids = [block.block_id for block in queue.get_all_free_blocks()]
            self.assertEqual(sorted(ids), list(range(1, 13)))
            self.assertEqual(ids, [block.block_id for block in queue.iter_blocks_after(None)])
            kept = {block.block_id for block in queue._kept.get_all_free_blocks()}
            self.assertEqual(kept, set(queue._owners))
            self.assertEqual(kept, {i for _, own in queue._sessions.values() for i in own})


class ChoiceTest(unittest.TestCase):
    def make(self, diffusion=None):
        config = SimpleNamespace(scheduler_cls=maitred_vllm.NAME, get_scheduler_cls=lambda: Stock)
        vllm_config = SimpleNamespace(scheduler_config=config, diffusion_config=diffusion)
        with patch.object(Stock, "__init__", lambda self, vllm_config: setattr(self, "kv_cache_manager", Manager(4))):
            return maitred_vllm.make_scheduler(vllm_config=vllm_config)

    def test_a_release_that_was_tried_gets_sessions(self):
        with patch.object(vllm, "__version__", f"{maitred_vllm.TRIED[0]}+cpu"):
            self.assertIsInstance(self.make().kv_cache_manager.block_pool.free_block_queue, SessionQueue)

    def test_any_other_release_keeps_its_own_scheduler(self):
        with patch.object(vllm, "__version__", "0.99.0"), self.assertLogs("vllm.maitred", "WARNING"):
            self.assertIs(type(self.make()), Stock)

    def test_a_diffusion_model_is_refused(self):
        with self.assertRaises(ValueError):
            self.make(diffusion=object())


if __name__ == "__main__":
    unittest.main()
