from tests.support.source_facts import FunctionFacts, facts

SOURCE = '''
import a.b
from c import d, e
class Class:
    import inner
    async def method(self):
        try:
            pass
        except ValueError:
            import handled
        else:
            import otherwise
        finally:
            def of_finally():
                raise NotImplementedError
        match self:
            case 1:
                import case
    def abstract(self):
        """To do."""
        raise NotImplementedError
    def says_why(self): raise NotImplementedError("a reason")
'''


def test_imports_are_found_in_every_block() -> None:
    assert facts(SOURCE).imported_names == {
        "a.b", "c", "c.d", "c.e", "inner", "handled", "otherwise", "case",
    }  # fmt: skip


def test_functions_have_their_lines_inner_ones_and_methods_included() -> None:
    assert set(facts(SOURCE).functions) == {
        FunctionFacts("method", 13, False),
        FunctionFacts("of_finally", 2, True),
        FunctionFacts("abstract", 3, True),
        FunctionFacts("says_why", 1, False),
    }
